//! Replaces the module `recorder` in a build that records nothing.

use std::future::Future;

#[cfg(tokio_unstable)]
use tokio::runtime::TaskMeta;

/// The recorder's side of each runtime hook; uninhabited.
#[derive(Clone)]
pub(crate) enum TokioHooks {}

macro_rules! uninhabited {
    ($( $(#[$attribute:meta])* $name:ident($($argument:ty)?) $(-> $result:ty)?; )*) => {
        $(
            $(#[$attribute])*
            pub(crate) fn $name(&self $(, _: $argument)?) $(-> $result)? {
                match *self {}
            }
        )*
    };
}

impl TokioHooks {
    uninhabited! {
        wants() -> (bool, bool);
        thread_start();
        thread_stop();
        thread_park();
        thread_unpark();
        #[cfg(tokio_unstable)]
        task_spawn(&TaskMeta<'_>);
        #[cfg(tokio_unstable)]
        before_task_poll(&TaskMeta<'_>);
        #[cfg(tokio_unstable)]
        after_task_poll(&TaskMeta<'_>);
        #[cfg(tokio_unstable)]
        sees_wakers() -> bool;
        #[cfg(tokio_unstable)]
        before_seen_task_poll(&TaskMeta<'_>);
        #[cfg(tokio_unstable)]
        after_seen_task_poll(&TaskMeta<'_>);
        #[cfg(tokio_unstable)]
        task_terminate(&TaskMeta<'_>);
    }
}

/// A future with a name: the future itself, as nothing is recorded.
pub type Instrumented<F> = F;

/// Gives futures a name. Nothing is recorded, so it has no effect.
pub trait Instrument: Future + Sized {
    /// Returns this future.
    #[inline(always)]
    fn instrument(self, _name: &'static str) -> Instrumented<Self> {
        self
    }
}

impl<F: Future> Instrument for F {}
