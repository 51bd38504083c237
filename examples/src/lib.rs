//! Programs that show tokio-statemap.
