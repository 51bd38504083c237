//! The report says what held the runtime up, and blames nobody for what others did.

mod chains;
mod culprits;
mod innocent;
mod issues;
mod limits;
mod no_stack;
mod pool;
mod quota;
mod trees;
mod verdict;
