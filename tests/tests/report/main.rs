//! The report names what held the runtime up, and blames no task for what others did.

mod beside;
mod busy_machine;
mod computed;
mod culprits;
mod faults;
mod in_place;
mod issues;
mod let_go;
mod limits;
mod no_stack;
mod pool;
mod queues;
mod quota;
mod random_faults;
mod trees;
mod verdict;
