//! What is said of issues that are no single long polls: stalls, tasks that never finish, leaks, starved tasks.

use std::fmt;

use super::verdict::{delayed_sentence, function, subject};
use crate::analysis::{Culprit, MaybeLeaked, NeverFinished, Place, Stall, Starved, WhyNever};
use crate::util::clean::clean;
use crate::util::quantity::{count, human, moment};

/// `5 tasks spawned at src/shop.rs:21:9`, at the begin of a sentence or within one.
fn tasks_of(n: u64, place: Place) -> String {
    let tasks = count(n, "task");
    match (place.location, place.is_root) {
        (None, false) => format!("{tasks} of unknown spawn location"),
        _ => format!("{tasks} spawned at {}", subject(place).0),
    }
}

/// `it`, `they`
fn they(n: u64) -> &'static str {
    if n == 1 { "it" } else { "they" }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Culprit { frame, act, place, .. } = &self.culprit;
        match frame {
            Some(frame) => write!(f, "{} stopped the runtime: it {act}, and ", function(frame))?,
            None => write!(f, "{} stopped the runtime: ", subject(*place).0)?,
        }
        let (longest, from) = (human(self.longest_ns), moment(self.longest_at_ns));
        write!(f, "nothing was polled for {longest}, from {from} on.")?;
        match (self.workers, self.blocked_workers) {
            (Some(1), _) => f.write_str(" The only worker was in that poll")?,
            (Some(workers), blocked) if blocked >= workers => {
                write!(f, " Each of the {workers} workers was in a long poll")?;
            }
            (Some(workers), blocked) => {
                let were = if blocked == 1 { "was in a long poll" } else { "were in long polls" };
                write!(
                    f,
                    " {blocked} of {workers} workers {were}, and no other looked for timers and I/O",
                )?;
            }
            (None, _) => f.write_str(" A long poll went on")?,
        }
        if frame.is_some() {
            write!(f, ", of tasks spawned at {}", subject(*place).0)?;
        }
        f.write_str(".")?;
        if self.times > 1 {
            let sum = human(self.total_ns);
            write!(f, " That happened {} times, for {sum} in all.", self.times)?;
        }
        if self.is_running {
            f.write_str(" It still went on at the end.")?;
        }
        delayed_sentence(f, self.delay, "Meanwhile")
    }
}

impl fmt::Display for NeverFinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n, they) = (self.tasks, they(self.tasks));
        let up_to = if n == 1 { "" } else { "up to " };
        let waited = human(self.waited_ns);
        if let WhyNever::MainWaits { at, is_known: false } = &self.why {
            return write!(
                f,
                "{} still waited at the end: {they} had for {up_to}{waited}, and the root future waits for others, at \
                 {}; nothing was polled any more. What all wait for in the end may be I/O or a timer; if not, that is \
                 a deadlock.",
                tasks_of(n, self.place),
                clean(at),
            );
        }
        write!(f, "{} never finished: {they} waited {up_to}{waited}", tasks_of(n, self.place))?;
        match &self.at {
            Some(at) => write!(f, ", to the end, at {}.", clean(at))?,
            None => f.write_str(", to the end.")?,
        }
        match &self.why {
            WhyNever::Lock => f.write_str(" Another task has to give back what is awaited there."),
            WhyNever::NothingWakes => {
                f.write_str(" Nothing took the waker there: nothing will wake ")?;
                f.write_str(if n == 1 { "it." } else { "them." })
            }
            WhyNever::MainWaits { at, .. } => write!(
                f,
                " The root future waits for others, too, at {}, and nothing was polled any more.",
                clean(at),
            ),
            WhyNever::OthersFinished { longest_life_ns } => write!(
                f,
                " The {} others that were spawned there took {} at most.",
                self.finished,
                human(*longest_life_ns),
            ),
        }
    }
}

impl fmt::Display for MaybeLeaked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = human(self.over_ns);
        write!(
            f,
            "{} may be leaked: there were only ever more of them, over {over}, and {} of those that \
             lived at the end had not been polled for a quarter of that time.",
            tasks_of(self.alive, self.place),
            self.idle,
        )?;
        match self.ended {
            0 => f.write_str(" None ended."),
            n => write!(f, " {} ended.", count(n, "other")),
        }
    }
}

impl fmt::Display for Starved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (self.place.location, self.place.is_root) {
            (None, false) => "Tasks of unknown spawn location".to_owned(),
            _ => format!("Tasks spawned at {}", subject(self.place).0),
        };
        let (longest, from) = (human(self.longest_ns), moment(self.longest_at_ns));
        write!(
            f,
            "{place} starved: one was ready for {longest}, from {from} on, before it was polled, though \
             no long poll is to blame.",
        )?;
        if self.times > 1 {
            write!(
                f,
                " {} of over {} took {} in sum.",
                count(self.times, "such wait"),
                human(self.least_ns),
                human(self.total_ns),
            )?;
        }
        write!(f, " Meanwhile {:.1} workers were busy with other polls.", self.busy_workers)
    }
}
