//! Trees of planted timelines.
