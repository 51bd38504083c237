//! Stands in for black boxes in builds without them.

use std::sync::Arc;
use std::time::Duration;

use crate::recorder::hot::Shared;

pub(super) fn write_due(_: &[Arc<Shared>]) -> Option<Duration> {
    None
}
