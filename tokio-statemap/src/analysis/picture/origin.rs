//! The data from which a picture was made. The page contains all of it, so that it can be read again.

use std::ops::Deref;

use crate::analysis::severity::Severity;
use crate::statemap::Labels;
#[cfg(feature = "read")]
use crate::statemap::read::Statemap;
use crate::trace::timeline::Timeline;

/// The data from which sections were made.
pub(crate) struct Origin<'a> {
    pub(crate) of: OriginOf<'a>,
    /// The begin of its data, in ns of the picture.
    pub(crate) from_ns: u64,
    /// Its name among the origins of the picture; empty if it is the only one.
    pub(crate) name: String,
    /// The severity of the first issue of its report; the least severity if it has no report.
    pub(crate) severity: Severity,
}

/// A run, or the data of anything else.
pub(crate) enum OriginOf<'a> {
    Run {
        timeline: Box<dyn Deref<Target = Timeline> + Sync + 'a>,
        labels: Labels,
    },
    #[cfg(feature = "read")]
    Other {
        data: &'a Statemap,
        title: String,
    },
}

impl Origin<'_> {
    /// Returns the run, if it is one.
    pub(crate) fn run(&self) -> Option<&Timeline> {
        match &self.of {
            OriginOf::Run { timeline, .. } => Some(timeline),
            #[cfg(feature = "read")]
            OriginOf::Other { .. } => None,
        }
    }

    /// Changes the title.
    pub(super) fn rename(&mut self, to: &str) {
        match &mut self.of {
            OriginOf::Run { labels, .. } => to.clone_into(&mut labels.title),
            #[cfg(feature = "read")]
            OriginOf::Other { title, .. } => to.clone_into(title),
        }
    }
}
