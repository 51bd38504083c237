//! The key `recover`: writes the page of an earlier process of this program that left a black box.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::path::Names;
use super::settings::Settings;
use super::target::Target;
use crate::choices::BlackBox;
use crate::collector::Collector;
use crate::recorder::black_box::Left;
use crate::sys::{signal, slice};
use crate::trace::recovered::recover;
use crate::util::clean::clean;
use crate::util::message::warn;
use crate::util::sync::lock;

/// The page of an earlier process.
#[derive(Clone, Debug)]
pub(super) struct Recover {
    path: PathBuf,
    is_test: bool,
}

impl Recover {
    /// Returns the page that is to be written, if the key is set.
    pub(super) fn new(settings: &Settings) -> Option<Self> {
        let path = settings.recover.clone()?;
        if settings.collector_config().black_box == BlackBox::Off {
            warn(format_args!("`recover` has no effect without `black_box`"));
            return None;
        }
        Some(Self { path, is_test: settings.test.is_some() })
    }

    /// Has the page written if the runtime of `collector` finds such a black box.
    pub(super) fn watch(&self, collector: &Collector) {
        let recover = self.clone();
        collector.when_left(Box::new(move |left| recover.start(left)));
    }

    /// Starts a thread that writes the page, and leaves the processors to all others.
    fn start(&self, left: &Left) {
        let target = self.target(left);
        let left = left.clone();
        let run = move || {
            /// One page at a time: the oldest box is found first, and several may have the same page.
            static ONE: Mutex<()> = Mutex::new(());
            let _one = lock(&ONE);
            signal::block_all();
            slice::let_others_go_first();
            // A box that was damaged must not be the end of this process, too.
            let written = catch_unwind(AssertUnwindSafe(|| write(&target, &left.path)));
            let shown = target.shown.display().to_string();
            let (shown, Left { program, pid, .. }) = (clean(&shown), &left);
            match written.unwrap_or_else(|_| Err("its black box is damaged".to_owned())) {
                Ok(()) => warn(format_args!("wrote {shown}: what {program} (process {pid}) did")),
                Err(why) => warn(format_args!("`recover` has not written {shown}: {why}")),
            }
        };
        if let Err(error) = crate::sys::start("statemap-recover", Box::new(run)) {
            warn(format_args!("`recover` has no effect: no thread can be started: {error}"));
        }
    }

    /// Returns the file of the page. `{pid}` is the id of the process that left the box.
    fn target(&self, left: &Left) -> Target {
        let names = Names::of_this_process(self.is_test).of_process(left.pid);
        Target::new("recover", &names.fill_in(&self.path))
    }
}

fn write(target: &Target, black_box: &Path) -> Result<(), String> {
    target.find().map_err(|error| error.to_string())?;
    let recovered = recover(black_box)?;
    let written = target.write(&|w| recovered.timeline.write_html(w));
    written.map_err(|error| error.to_string())
}
