//! `tokio-statemap ps`.

use std::io::IsTerminal as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io, thread};

use tokio_statemap::__private::{Found, Recovered, clean, is_live, lately, workers_now};
use tokio_statemap::trees::Folded;

use crate::args::PsArgs;
use crate::boxes;
use crate::failure::Failure;
use crate::input::{recovered, unharmed};
use crate::output::print;

/// The time between two looks with `--watch`.
const PERIOD: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &PsArgs) -> Result<(), Failure> {
    if args.watch { watch(args) } else { show(args) }
}

/// Shows it each second, by a process of its own each time: what is read from boxes stays in memory. It ends with the last
/// of the processes that are named.
fn watch(args: &PsArgs) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Problem(format!("can't be started again: {error}"));
    let command = env::current_exe().map_err(failed)?;
    let is_terminal = io::stdout().is_terminal();
    let mut is_first = true;
    loop {
        let began = Instant::now();
        // Asked before, so that the last thing that is shown is how they ended.
        let is_over = !args.what.is_empty() && !is_any_alive(args);
        if is_over && !is_first && found(args).is_err() {
            // They have ended in order, so their boxes are gone.
            return Ok(());
        }
        let mut shown = Command::new(&command);
        // With `--`, as a file may have any name.
        let shown = shown.args(["ps", "--"]).args(&args.what).stderr(Stdio::inherit()).output();
        let shown = shown.map_err(failed)?;
        if !shown.status.success() && is_first {
            return Err(Failure::Reported);
        }
        let text = String::from_utf8_lossy(&shown.stdout);
        print(&if is_terminal { in_place(&text) } else { text.into_owned() })?;
        if is_over {
            return Ok(());
        }
        is_first = false;
        thread::sleep(PERIOD.saturating_sub(began.elapsed()));
    }
}

/// Returns whether a process of one of the boxes lives, or may live.
fn is_any_alive(args: &PsArgs) -> bool {
    let found = found(args).unwrap_or_default();
    found.iter().any(|found| is_live(&found.path) != Some(false))
}

/// Returns the text so that it takes the place of what is on the terminal, without a moment in which there is nothing.
fn in_place(text: &str) -> String {
    format!("\x1b[H{}\x1b[J", text.replace('\n', "\x1b[K\n"))
}

fn show(args: &PsArgs) -> Result<(), Failure> {
    let (mut text, mut has_failed) = (String::new(), false);
    for found in found(args)? {
        let shown = unharmed(&found.path, || Ok(described(&found, &recovered(&found.path)?)));
        match shown {
            Ok(shown) => text += &shown,
            // The others are shown all the same.
            Err(failure) => {
                has_failed = true;
                failure.report();
            }
        }
    }
    if text.is_empty() && has_failed {
        return Err(Failure::Reported);
    }
    if text.is_empty() {
        text = "No process is recorded in a black box here.\n".to_owned();
    }
    print(&text)
}

fn found(args: &PsArgs) -> Result<Vec<Found>, Failure> {
    if args.what.is_empty() {
        return Ok(boxes::all());
    }
    let mut all = Vec::new();
    for what in &args.what {
        all.extend(boxes::named(what)?);
    }
    Ok(all)
}

fn described(found: &Found, recovered: &Recovered) -> String {
    let Recovered { timeline, pid, program, lives, .. } = recovered;
    let program = program.as_deref().map_or("a program", |path| {
        Path::new(path).file_name().and_then(|name| name.to_str()).unwrap_or(path)
    });
    let runtime = timeline.runtime.as_ref().map(|name| format!(", runtime {name}"));
    let does = match lives {
        Some(true) => "runs",
        Some(false) => "is dead",
        None => "may run or be dead",
    };
    let pid = found.pid.unwrap_or(*pid);
    let mut text = format!(
        "{} (process {pid}{}) {does}; as of {} after the start of recording: {}\n",
        clean(program),
        clean(&runtime.unwrap_or_default()),
        recovered.at(),
        clean(&found.path.display().to_string()),
    );
    for line in workers_now(timeline).into_iter().chain(lately(timeline)) {
        text += &format!("  {line}\n");
    }
    text += &format!("\n{}\n\n", Folded(&timeline.trees()));
    text
}
