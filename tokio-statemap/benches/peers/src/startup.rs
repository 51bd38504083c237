//! Measures the startup cost of a program before the first line of its `main`.

use std::path::Path;
use std::process::Command;

use crate::plan::Plan;
use crate::programs;
use crate::usage;

/// One tiny program.
pub(crate) struct Start {
    pub(crate) title: &'static str,
    /// The CPU times in the order of the turns.
    pub(crate) cpu_ms: Vec<f64>,
    pub(crate) wall_ms: Vec<f64>,
}

/// Starts all programs in turns. `Err` says why that failed.
pub(crate) fn measure(plan: &Plan) -> Result<Vec<Start>, String> {
    let on = programs::build("startup-on", &["--package", "startup"])?;
    let off = programs::build("startup-off", &["--package", "startup", "--no-default-features"])?;
    let programs = [
        ("`#[tokio::main]`", on.join("plain"), "1"),
        ("`#[tokio::main]`, fastant linked", on.join("with_fastant"), "1"),
        ("our attribute", on.join("attribute"), "1"),
        ("our attribute, `TOKIO_STATEMAP=0`", on.join("attribute"), "0"),
        ("our attribute, built without `record`", off.join("attribute"), "1"),
        ("`#[tokio::main]` in that build", off.join("plain"), "1"),
    ];
    let folder = std::env::temp_dir().join(format!("peers-startup-{}", std::process::id()));
    let mut figures = vec![(Vec::new(), Vec::new()); programs.len()];
    for turn in 0..plan.starts {
        // No program always follows the same other one.
        for step in 0..programs.len() {
            let which =
                (turn + if turn % 2 == 0 { step } else { programs.len() - step }) % programs.len();
            let (_, program, is_on) = &programs[which];
            let [cpu, wall] = start(program, is_on, &folder);
            figures[which].0.push(cpu);
            figures[which].1.push(wall);
        }
    }
    std::fs::remove_dir_all(&folder).expect("the attribute has made it");
    let starts = programs.iter().zip(figures).map(|((title, ..), (cpu, wall))| Start {
        title,
        cpu_ms: cpu,
        wall_ms: wall,
    });
    Ok(starts.collect())
}

/// Returns the CPU time and the time until its `main`, in ms. Its files are written to `folder`.
fn start(program: &Path, is_on: &str, folder: &Path) -> [f64; 2] {
    let mut command = Command::new(program);
    command.env("TOKIO_STATEMAP", is_on).env("TOKIO_STATEMAP_DIR", folder);
    let began = usage::monotonic();
    let said = programs::json_of(&mut command);
    let ns = |index: usize| said[index].as_f64().expect("ns");
    [ns(0) / 1e6, (ns(1) - began.as_nanos() as f64) / 1e6]
}
