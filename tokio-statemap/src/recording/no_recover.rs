//! Stands in for the key `recover` in a build without it.

use super::settings::Settings;
use crate::collector::Collector;

/// There is none.
#[derive(Debug)]
pub(super) enum Recover {}

impl Recover {
    pub(super) fn new(_: &Settings) -> Option<Self> {
        None
    }

    pub(super) fn watch(&self, _: &Collector) {
        match *self {}
    }
}
