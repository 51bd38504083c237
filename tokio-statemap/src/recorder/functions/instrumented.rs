//! The future of an instrumented call.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::recorder::calls::Function;
use crate::recorder::calls::profile::End;
use crate::recorder::chains::capture;
use crate::recorder::functions::fields::{Fields, NoFields, Registers};
use crate::recorder::functions::points;
use crate::recorder::functions::times::{self, CallTimes};
use crate::recorder::waits::unprobed;

pin_project_lite::pin_project! {
    /// A future whose polls are recorded under the name of a function. It returns what the future in it returns, and is
    /// `Send`, `Sync` and `Unpin` if that future is.
    ///
    /// [`Instrument`](crate::Instrument) and the attribute `instrument` make it.
    #[must_use = "futures do nothing unless they are polled"]
    pub struct Instrumented<F, D = NoFields> {
        // The first field, so that a call has ended before what it holds is dropped.
        call: CallTimes,
        fields: D,
        #[pin]
        future: F,
    }
}

/// Wraps `future`, a call of `function`.
pub fn instrumented<F: Future>(function: &'static Function, future: F) -> Instrumented<F> {
    Instrumented { call: CallTimes::new(function), fields: NoFields, future }
}

/// Wraps a call with arguments, which `fields` writes: at any time until the call ends, on any
/// thread that asks.
pub fn instrumented_with<F: Future, D>(
    function: &'static Function,
    fields: D,
    future: F,
) -> Instrumented<F, Fields<D>>
where
    D: Fn(&mut fmt::Formatter<'_>) -> fmt::Result + Send + Sync + 'static,
{
    Instrumented { call: CallTimes::new(function), fields: Fields::new(fields), future }
}

impl<F: Future, D: Registers> Future for Instrumented<F, D> {
    type Output = F::Output;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if unprobed::is_here() {
            let before = self.call.wait;
            let (polled, wait) = unprobed::poll(self.as_mut(), cx, before);
            self.project().call.wait = wait;
            return polled;
        }
        let this = self.project();
        let call = this.call;
        points::enter(call.function);
        let Some(now) = times::now_if_recorded() else {
            let polled = this.future.poll(cx);
            match polled {
                Poll::Ready(_) => call.end(End::Completed, None),
                Poll::Pending => points::wait(call.function),
            }
            return polled;
        };
        // It is in the frame of the poll.
        let local = 0_u8;
        let activation = call.enter(now, std::ptr::from_ref(&local).addr());
        this.fields.register(activation.function(), activation.entered_ticks());
        let captured = capture::number();
        let polled = this.future.poll(cx);
        let left_ticks = activation.leave();
        match polled {
            Poll::Ready(_) => {
                // It no longer waits for what it waited for in this poll.
                capture::forget_after(captured);
                call.end(End::Completed, Some(left_ticks));
            }
            Poll::Pending => points::wait(call.function),
        }
        polled
    }
}

impl<F, D> fmt::Debug for Instrumented<F, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instrumented").field(self.call.function).finish()
    }
}

#[cfg(test)]
impl<F, D> Instrumented<F, D> {
    /// Returns when it was first polled, in ticks.
    pub(crate) fn entered_ticks(&self) -> Option<u64> {
        self.call.entered_ticks.map(std::num::NonZeroU64::get)
    }
}
