//! `tokio-statemap report`.

use std::io;

use tokio_statemap::__private::{Colours, clean, coloured_report, coloured_text};
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::ReportArgs;
use crate::failure::{Failure, name, print};
use crate::input::read_all;
use crate::progress::Progress;

pub(crate) fn run(args: ReportArgs) -> Result<(), Failure> {
    args.files.check("report");
    let mut progress = Progress::new();
    let read = read_all(&args.files, args.window, &mut progress)?;
    progress.end();
    let recordings = recordings(&read.statemaps);
    let has_heads = recordings.len() > 1;
    let colours = Colours::of(&io::stdout());
    for (index, recording) in recordings.iter().enumerate() {
        if index > 0 {
            print("\n")?;
        }
        let (text, of) = match recording {
            Recording::Run { timeline, files, .. } if args.profile => {
                (coloured_text(&timeline.profile().to_string(), colours), &files[..])
            }
            Recording::Other { file, .. } if args.profile => (
                "This data says nothing of async functions.".to_owned(),
                std::slice::from_ref(file),
            ),
            Recording::Run { timeline, files, .. } => {
                let report = timeline.report();
                (coloured_report(&report.to_string(), &report, colours), &files[..])
            }
            Recording::Other { data, file, .. } => {
                let text = coloured_text(&data.report().to_string(), colours);
                (text, std::slice::from_ref(file))
            }
            _ => continue,
        };
        if has_heads {
            let names = of.iter().map(|&data| name(&args.files.files[read.of[data]]));
            let mut names: Vec<_> = names.collect();
            names.dedup();
            print(&format!("==> {} <==\n", clean(&names.join(", "))))?;
        }
        print(&format!("{text}\n"))?;
    }
    Ok(())
}
