//! Stands in for the pages that are written while the program runs, in a build that writes no pages.

use std::sync::Arc;

use super::active::Active;
use super::env;
use super::settings::Settings;
use crate::collector::Collector;
use crate::error::Error;
use crate::util::message::warn;

/// There is none.
#[derive(Debug)]
pub(super) enum DumpOn {}

pub(super) fn check(_: &Settings) -> Result<(), Error> {
    Ok(())
}

impl DumpOn {
    pub(super) fn new(_: &Settings) -> Option<Arc<Self>> {
        const NAME: &str = "TOKIO_STATEMAP_DUMP_ON";
        if env::text(NAME).is_some_and(|text| !env::is_off(&text)) {
            warn(format_args!("{NAME} is ignored: this is a build without the feature `html`"));
        }
        None
    }

    pub(super) fn watch(&self, _: &Collector) {
        match *self {}
    }

    pub(super) fn start(&self, _: &Arc<Active>) {
        match *self {}
    }

    pub(super) fn close(&self) -> Vec<String> {
        match *self {}
    }
}
