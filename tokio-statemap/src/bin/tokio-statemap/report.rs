//! `tokio-statemap report`.

use std::io;

use tokio_statemap::__private::{Colours, clean, coloured_report, coloured_text};
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::input::read_all;
use crate::output::print;
use crate::progress::Progress;

pub(crate) fn run(args: &ReportArgs) -> Result<(), Failure> {
    args.files.check("report");
    let progress = Progress::new();
    let input = read_all(&args.files, args.window, &progress)?;
    progress.end();
    let recordings = recordings(&input.statemaps);
    let has_heads = recordings.len() > 1;
    let colours = Colours::for_stream(&io::stdout());
    for (index, recording) in recordings.iter().enumerate() {
        if index > 0 {
            print("\n")?;
        }
        let (text, files) = match recording {
            Recording::Run { timeline, files, .. } => {
                let text = if args.profile {
                    coloured_text(&timeline.profile().to_string(), colours)
                } else if args.requests {
                    coloured_text(&timeline.requests().to_string(), colours)
                } else {
                    let report = timeline.report();
                    coloured_report(&report.to_string(), &report, colours)
                };
                (text, &files[..])
            }
            Recording::Other { data, file, .. } => {
                let text = if args.profile {
                    "This data has no profile of async functions.".to_owned()
                } else if args.requests {
                    "This data has no spans of tracing.".to_owned()
                } else {
                    coloured_text(&data.report().to_string(), colours)
                };
                (text, std::slice::from_ref(file))
            }
            _ => continue,
        };
        if has_heads {
            print(&format!("==> {} <==\n", clean(&input.names(&args.files, files))))?;
        }
        print(&format!("{text}\n"))?;
    }
    Ok(())
}
