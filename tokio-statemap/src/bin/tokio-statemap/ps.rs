//! `tokio-statemap ps`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, io, thread};

use tokio_statemap::__private::{Found, Recovered, clean, workers_now};
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

/// Shows it each second, by a process of its own each time: what is read from boxes stays in memory.
fn watch(args: &PsArgs) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::Problem(format!("can't be started again: {error}"));
    let command = env::current_exe().map_err(failed)?;
    loop {
        let mut shown = Command::new(&command);
        let shown = shown.arg("ps").args(&args.what).stderr(Stdio::inherit()).output();
        let text = shown.map_err(failed)?.stdout;
        // Clears the terminal, as `watch` does.
        print(&format!("\x1b[H\x1b[2J{}", String::from_utf8_lossy(&text)))?;
        thread::sleep(PERIOD);
    }
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
    for line in workers_now(timeline) {
        text += &format!("  {line}\n");
    }
    text += &format!("\n{}\n\n", Folded(&timeline.trees()));
    text
}
