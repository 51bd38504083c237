//! The keys `dump_on`, `dump_limit` and `dump_after`: a page is written when something goes wrong, with what happened
//! before.

mod kept;
mod looks;
mod pages;
mod panics;
mod state;
mod values;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once};
use std::time::{Duration, Instant};

use super::active::Active;
use super::settings::Settings;
use super::{env, exits, warnings};
use crate::collector::Collector;
use crate::error::Error;
use crate::recorder::watch::listeners::SeenPoll;
#[cfg(unix)]
use crate::sys::signal::dump::{Purpose, install};
use crate::util::clean::clean;
use crate::util::duration;
use crate::util::message::warn;
use crate::util::quantity::human_setting;
use crate::util::sync::lock;

use looks::Wanted;
use state::State;
use values::{Limits, Trigger};

/// The time for which recording goes on after a trigger by default.
const AFTER: Duration = Duration::from_secs(1);

/// The triggers of a recording, and its pages.
#[derive(Debug)]
pub(super) struct DumpOn {
    /// The length of polls, in ns.
    poll_ns: Option<u64>,
    /// The length of polls that hold all workers, in ns.
    stall_ns: Option<u64>,
    wanted: Wanted,
    panics: bool,
    signals: Vec<&'static str>,
    limits: Limits,
    after: Duration,
    state: Mutex<State>,
    changed: Condvar,
    /// `true` once the program ends.
    is_over: AtomicBool,
}

/// Checks the values of the keys.
pub(super) fn check(settings: &Settings) -> Result<(), Error> {
    let invalid = |field, reason: String| Error::InvalidConfig { field, reason: reason.into() };
    if let Some(text) = settings.dump_on {
        values::triggers(text).map_err(|reason| invalid("dump_on", reason))?;
    }
    if let Some(text) = settings.dump_limit {
        values::limits(text).map_err(|reason| invalid("dump_limit", reason))?;
    }
    Ok(())
}

/// Returns the value of a key, which the environment may replace. The key's own value was checked.
fn value<T>(name: &str, key: Option<&str>, parse: fn(&str) -> Result<T, String>) -> Option<T> {
    if let Some(text) = env::text(name) {
        match parse(&text) {
            Ok(value) => return Some(value),
            Err(reason) => warn(format_args!("{name}={text:?} is ignored: {reason}")),
        }
    }
    key.and_then(|text| parse(text).ok())
}

/// Parses triggers, or a word for none.
fn triggers(text: &str) -> Result<Vec<Trigger>, String> {
    if env::is_off(text) { Ok(Vec::new()) } else { values::triggers(text) }
}

fn length(text: &str) -> Result<Duration, String> {
    let ns = duration::nanoseconds(text.trim());
    ns.map(Duration::from_nanos).ok_or_else(|| {
        "it must be a number and ns, us, ms, s, m or h, such as 250ms or 1.5s".to_owned()
    })
}

impl DumpOn {
    /// Returns the triggers that are set; `None` if there are none.
    pub(super) fn new(settings: &Settings) -> Option<Arc<Self>> {
        let triggers = value("TOKIO_STATEMAP_DUMP_ON", settings.dump_on, triggers)?;
        if triggers.is_empty() {
            return None;
        }
        let limits = value("TOKIO_STATEMAP_DUMP_LIMIT", settings.dump_limit, values::limits);
        let after = value("TOKIO_STATEMAP_DUMP_AFTER", None, length).or(settings.dump_after);
        let (mut poll_ns, mut stall_ns) = (None, None);
        let (mut panics, mut signals) = (false, Vec::new());
        let mut wanted = Wanted::default();
        for trigger in triggers {
            match trigger {
                Trigger::Poll(ns) => poll_ns = are_polls_seen(settings).then_some(ns),
                Trigger::Stall(ns) => stall_ns = are_polls_seen(settings).then_some(ns),
                Trigger::Panic => panics = true,
                Trigger::Signal(name) => signals.push(name),
                other if is_seen(settings, &other) => wanted.add(other, settings.test.is_some()),
                _ => {}
            }
        }
        if poll_ns.or(stall_ns).is_none() && !panics && signals.is_empty() && wanted.is_empty() {
            return None;
        }
        if panics {
            panics::watch();
        }
        Some(Arc::new(Self {
            poll_ns,
            stall_ns,
            wanted,
            panics,
            signals,
            limits: limits.unwrap_or_default(),
            after: after.unwrap_or(AFTER),
            state: Mutex::default(),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
        }))
    }

    /// Watches the polls of a runtime.
    pub(super) fn watch(self: &Arc<Self>, collector: &Collector) {
        if let Some(ns) = self.poll_ns {
            let (wants, tells) = (Arc::clone(self), Arc::clone(self));
            collector.on_seen_poll(
                Duration::from_nanos(ns),
                Box::new(move || wants.wants()),
                Box::new(move |poll, _| tells.trigger(&|| held(poll, ns))),
            );
        }
        if let Some(ns) = self.stall_ns {
            let (wants, tells) = (Arc::clone(self), Arc::clone(self));
            let time = Duration::from_nanos(ns);
            let is_stalled = collector.stalls(time);
            // The last of the workers tells.
            collector.on_seen_poll(
                time,
                Box::new(move || is_stalled() && wants.wants()),
                Box::new(move |poll, _| tells.trigger(&|| stalled(poll, ns))),
            );
        }
    }

    /// Starts the thread that writes pages, and waits for signals.
    pub(super) fn start(self: &Arc<Self>, active: &Arc<Active>) {
        pages::start(self, active);
        for signal in &self.signals {
            #[cfg(unix)]
            let installed = install(signal, Purpose::Page, on_signal);
            #[cfg(not(unix))]
            let installed = Err::<(), _>("there are no signals here");
            if let Err(error) = installed {
                warn(format_args!("`dump_on` has no effect for {signal}: {error}"));
            }
        }
    }

    /// Ends all of it. Returns a sentence each on what was written, and what wasn't.
    pub(super) fn close(&self) -> Vec<String> {
        // A page that isn't finished by now counts as not written.
        self.is_over.store(true, Ordering::Release);
        let sentences = lock(&self.state).close();
        self.changed.notify_all();
        sentences
    }

    /// Returns whether the program ends.
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Returns whether a poll now would lead to a page of its own.
    fn wants(&self) -> bool {
        let wants = lock(&self.state).wants(Instant::now(), &self.limits);
        // The thread may have to say that the limit is reached.
        self.changed.notify_all();
        wants
    }

    /// Has a page written soon. `why` says for what.
    fn trigger(&self, why: &dyn Fn() -> String) {
        lock(&self.state).trigger(why, Instant::now(), &self.limits);
        self.changed.notify_all();
    }
}

/// Returns whether polls that go on are seen. A line says why not, once per process.
fn are_polls_seen(settings: &Settings) -> bool {
    static WARNED: Once = Once::new();
    let why = warnings::unseen(settings);
    if let Some(why) = why {
        WARNED.call_once(|| warn(format_args!("`dump_on` has no effect for polls: {why}")));
    }
    why.is_none()
}

/// Returns whether this recording can detect a trigger. A line says why not, once per process.
fn is_seen(settings: &Settings, trigger: &Trigger) -> bool {
    static WARNED: Once = Once::new();
    let why = looks::unseen(settings, trigger);
    if let Some(why) = why {
        let name = if matches!(trigger, Trigger::Ready(_)) { "ready" } else { "wait" };
        WARNED.call_once(|| warn(format_args!("`dump_on` has no effect for `{name}`: {why}")));
    }
    why.is_none()
}

/// Says which poll has gone on for longer than `ns`.
fn held(poll: &SeenPoll, ns: u64) -> String {
    let length = human_setting(ns);
    match poll.worker {
        Some(worker) => {
            let runtime = poll.runtime.as_ref().map(|name| format!("{}/", clean(name)));
            let runtime = runtime.unwrap_or_default();
            format!("a poll has held {runtime}worker-{worker} for over {length}")
        }
        None => format!("a poll has gone on for over {length}"),
    }
}

/// Says that the runtime of a poll is stalled for longer than `ns`.
fn stalled(poll: &SeenPoll, ns: u64) -> String {
    let of = poll.runtime.as_ref().map(|name| format!(" of {}", clean(name)));
    format!("polls have held all workers{} for over {}", of.unwrap_or_default(), human_setting(ns))
}

/// Notes a signal, on the thread for signals.
#[cfg_attr(not(unix), allow(dead_code, reason = "nobody asks"))]
fn on_signal(name: &'static str) {
    exits::each(&mut |recording| {
        if let Some(dump_on) = &recording.dump_on {
            if dump_on.signals.contains(&name) {
                dump_on.trigger(&|| name.to_owned());
            }
        }
    });
}
