//! Example programs for tokio-statemap.
