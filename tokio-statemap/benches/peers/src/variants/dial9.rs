//! The observer dial9, writing to memory.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dial9_core::buffer::MemoryBuffer;
use dial9_core::pipeline::{ProcessError, SegmentData, SegmentProcessor};
use dial9_core::recorder::recorder;
use dial9_core::recording::Recorder;
use dial9_tokio_telemetry::telemetry::{Dial9HandleTokioExt, TokioAttachOptions};
use dial9_trace_format::decoder::Decoder;
use tokio::runtime::{Builder, Runtime};

use super::Account;

/// The size that dial9's own benchmark uses, and that our default `max_events` takes.
const BYTES: u64 = 16 << 20;

/// A size with which nothing is dropped before it was counted.
const COUNTED_BYTES: u64 = 2 << 30;

pub(super) struct Dial9 {
    recorder: Recorder,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    bytes: AtomicU64,
    events: AtomicU64,
    polls: AtomicU64,
}

impl Dial9 {
    /// Attaches it. With `account`, the kept events are decoded and counted in a thread.
    pub(super) fn attach(builder: Builder, account: bool) -> (Self, Runtime) {
        let counts = Arc::new(Counts::default());
        let buffer = MemoryBuffer::new(if account { COUNTED_BYTES } else { BYTES });
        let mut recorder = recorder(buffer.expect("a buffer"));
        if account {
            recorder = recorder.pipe(Counter(Arc::clone(&counts)));
        }
        let recorder = recorder.build();
        let options = TokioAttachOptions::builder().task_tracking_enabled(true).build();
        let runtime = recorder.handle().attach_tokio_runtime(builder, options);
        (Self { recorder, counts }, runtime.expect("a runtime"))
    }

    /// Returns the account of a runtime that ended after `polls` polls.
    pub(super) fn account(self, polls: u64) -> Account {
        self.recorder.graceful_shutdown(Duration::from_secs(60));
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Account {
            kept_events: count(&self.counts.events),
            // It doesn't report lost events. A poll is two events.
            lost_events: polls.saturating_sub(count(&self.counts.polls)) * 2,
            surplus_events: 0,
            encoded_bytes: Some(count(&self.counts.bytes)),
        }
    }
}

struct Counter(Arc<Counts>);

impl SegmentProcessor for Counter {
    fn name(&self) -> &'static str {
        "counter"
    }

    fn process(
        &mut self,
        mut data: SegmentData,
    ) -> Pin<Box<dyn Future<Output = Result<SegmentData, ProcessError>> + Send + '_>> {
        let bytes = data.take_payload().into_bytes();
        self.0.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut decoder = Decoder::new(&bytes).expect("dial9's own format");
        let (mut events, mut polls) = (0, 0);
        let decoded = decoder.for_each_event(|event| {
            events += 1;
            polls += u64::from(event.name == "PollStartEvent");
        });
        decoded.expect("dial9 can read what it wrote");
        self.0.events.fetch_add(events, Ordering::Relaxed);
        self.0.polls.fetch_add(polls, Ordering::Relaxed);
        Box::pin(std::future::ready(Ok(data)))
    }
}
