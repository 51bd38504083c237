//! A summary as metrics, for Prometheus and its like.
//!
//! A counter that goes back looks like a restart to Prometheus, which then adds the whole count to a rate. So every
//! counter here only grows from one summary to the next, except those of the location `other`. A running poll isn't
//! counted until it ends, and lengths are converted by one rate of the clock
//! ([`Collector::summary`](crate::Collector::summary)).

mod lately;
mod places;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use crate::render::prometheus::lately::Lately;
use crate::render::prometheus::places::{Buckets, Place, places};
use crate::render::prometheus::text::{Kind, Text, seconds};
use crate::trace::summary::{Summary, WorkerSummary};

impl Summary {
    /// Returns the sums as metrics for Prometheus, in the OpenMetrics text format 1.0.
    ///
    /// Serve it with the content type `application/openmetrics-text; version=1.0.0; charset=utf-8`. A parser of the older
    /// text format (`text/plain; version=0.0.4`) reads the same text, but takes the counters as untyped.
    ///
    /// All names begin with `tokio_statemap_`, and all times are in seconds:
    ///
    /// | metric | type | labels |
    /// | --- | --- | --- |
    /// | `recorded_seconds_total` | counter | |
    /// | `tasks_spawned_total` | counter | `location` |
    /// | `tasks_alive` | gauge | |
    /// | `held_seconds_total` | counter | `location` |
    /// | `long_polls_total`, `long_poll_seconds_total` | counter | `location` |
    /// | `longest_poll_seconds` | gauge | `location` |
    /// | `poll_seconds` | histogram | `location` |
    /// | `ready_seconds` | histogram | `location` |
    /// | `running_poll_seconds` | gauge | `location` |
    /// | `worker_busy_seconds_total`, `worker_parked_seconds_total` | counter | `worker` |
    /// | `worker_polls_total`, `worker_parks_total` | counter | `worker` |
    /// | `missed_events_total` | counter | |
    ///
    /// - `location` is the spawn location, as the report shows it. There are at most 50, those that held workers longest.
    ///   The others are summed up in `location="other"`, so that sums over all locations are whole. If a location takes the
    ///   place of another among the 50, the counters of `other` may go back.
    /// - The histograms have the buckets 10 µs, 100 µs, 1 ms, and so on up to 10 s. As a [`Distribution`] is accurate to
    ///   1 %, a value that is up to 1 % below a bound may count above it. `poll_seconds_count` is the number of polls.
    /// - `poll_seconds` has polls on all threads, as those of `main` are often on one that is no worker. `held_seconds_total`
    ///   and the long polls are those on workers.
    /// - A poll that is still running isn't in the buckets and in `poll_seconds_count`, but its length so far is
    ///   `running_poll_seconds`, and a part of the other sums.
    /// - [`Collector::prometheus`](crate::Collector::prometheus) adds where tasks wait, and which function held a worker
    ///   longest in the last minute.
    /// - What isn't known is left out: `tasks_alive` in a run that was read from files, `ready_seconds` without
    ///   `schedule_latency`, and the workers if they were not recorded.
    ///
    /// Take the summary with [`Collector::summary`](crate::Collector::summary), whose counters never go back. After
    /// [`Collector::reset_summary`](crate::Collector::reset_summary) they start from 0. Prometheus takes that as a restart
    /// of the program, and its rates stay right but for what happened since the last scrape. So don't reset sums that
    /// are scraped.
    ///
    /// [`Distribution`]: crate::summary::Distribution
    ///
    /// # Examples
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(not(tokio_unstable))]
    /// # return Ok(());
    /// use tokio_statemap::{CollectorConfig, register_hooks};
    ///
    /// let mut builder = tokio::runtime::Builder::new_current_thread();
    /// let collector = register_hooks(&mut builder, CollectorConfig::default())?;
    /// collector.start();
    /// let runtime = builder.build()?;
    /// runtime.block_on(async { tokio::spawn(async {}).await })?;
    /// let metrics = collector.summary().prometheus();
    /// assert!(metrics.contains("# TYPE tokio_statemap_poll_seconds histogram\n"));
    /// assert!(metrics.ends_with("# EOF\n"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn prometheus(&self) -> String {
        self.metrics().end()
    }

    /// Returns the metrics of [`prometheus`](Self::prometheus), with what is going on, and the number of pages of `dump_on`
    /// and of triggers that led to none.
    pub(crate) fn prometheus_with(&self, lately: &Lately, dumps: [u64; 2]) -> String {
        let mut text = self.metrics();
        lately.add(&mut text);
        for (n, name, help) in [
            (dumps[0], "dumps", "The pages that dump_on has written in this process."),
            (dumps[1], "dumps_left_out", "The triggers of dump_on that led to no page."),
        ] {
            text.family(name, Kind::Counter, help);
            text.sample("_total", &[], &n.to_string());
        }
        text.end()
    }

    fn metrics(&self) -> Text {
        let mut text = Text::new();
        text.family("recorded_seconds", Kind::Counter, "The time that was recorded.");
        text.sample("_total", &[], &seconds(self.recorded_ns));
        add_tasks(self, &mut text);
        add_places(self, &mut text);
        add_workers(&self.workers, &mut text);
        let help = "The events that are missing in these sums.";
        text.family("missed_events", Kind::Counter, help);
        text.sample("_total", &[], &self.missed_events.to_string());
        text
    }
}

fn add_tasks(summary: &Summary, text: &mut Text) {
    if let Some(alive) = summary.live_tasks {
        text.family("tasks_alive", Kind::Gauge, "The spawned tasks that are alive.");
        text.sample("", &[], &alive.to_string());
    }
}

fn add_places(summary: &Summary, text: &mut Text) {
    let places = places(summary);
    if places.is_empty() {
        return;
    }
    let mut add = |name: &str, kind: Kind, help: &str, value: &dyn Fn(&Place) -> String| {
        text.family(name, kind, help);
        let suffix = if kind == Kind::Counter { "_total" } else { "" };
        for place in &places {
            text.sample(suffix, &[("location", &place.label)], &value(place));
        }
    };
    add(
        "tasks_spawned",
        Kind::Counter,
        "The spawned tasks, and those that were alive when recording began.",
        &|place| place.tasks.to_string(),
    );
    add("held_seconds", Kind::Counter, "The time for which polls held workers.", &|place| {
        seconds(place.held_ns)
    });
    add(
        "long_polls",
        Kind::Counter,
        "The polls that held a worker for longer than the setting long_poll.",
        &|place| place.long_polls.to_string(),
    );
    add("long_poll_seconds", Kind::Counter, "The time for which those polls held workers.", &|p| {
        seconds(p.long_polls_ns)
    });
    add("longest_poll_seconds", Kind::Gauge, "The length of the longest poll so far.", &|place| {
        seconds(place.longest_ns)
    });
    add(
        "running_poll_seconds",
        Kind::Gauge,
        "The length so far of the longest poll that is still running, 0 if there is none.",
        &|place| seconds(place.running_ns),
    );
    add_histogram(
        (
            "poll_seconds",
            "The lengths of polls that have ended; the sum includes those that are running.",
        ),
        &places,
        &|place| &place.polls,
        text,
    );
    if places.iter().any(|place| place.ready.count() > 0) {
        let help = "The times for which tasks were ready before polls on workers.";
        add_histogram(("ready_seconds", help), &places, &|place| &place.ready, text);
    }
}

fn add_histogram(
    (name, help): (&str, &str),
    places: &[Place],
    of: &dyn Fn(&Place) -> &Buckets,
    text: &mut Text,
) {
    text.family(name, Kind::Histogram, help);
    for place in places {
        let (buckets, label) = (of(place), ("location", &*place.label));
        for (le, n) in buckets.cumulative() {
            text.sample("_bucket", &[label, ("le", le)], &n.to_string());
        }
        text.sample("_count", &[label], &buckets.count().to_string());
        text.sample("_sum", &[label], &seconds(buckets.sum_ns));
    }
}

fn add_workers(workers: &[WorkerSummary], text: &mut Text) {
    if workers.is_empty() {
        return;
    }
    let mut add = |name: &str, help: &str, value: &dyn Fn(&WorkerSummary) -> String| {
        text.family(name, Kind::Counter, help);
        for worker in workers {
            text.sample("_total", &[("worker", &worker.index.to_string())], &value(worker));
        }
    };
    let help = "The time in which a worker polled tasks or looked for some.";
    add("worker_busy_seconds", help, &|worker| seconds(worker.running_ns));
    let help = "The time in which a worker was parked.";
    add("worker_parked_seconds", help, &|worker| seconds(worker.parked_ns));
    add("worker_polls", "The polls that began on a worker.", &|worker| worker.polls.to_string());
    add("worker_parks", "The times that a worker parked.", &|worker| worker.parks.to_string());
}
