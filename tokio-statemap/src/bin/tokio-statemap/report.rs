//! `tokio-statemap report`.

use tokio_statemap::__private::clean;
use tokio_statemap::statemap::{Recording, recordings};

use crate::args::ReportArgs;
use crate::failure::{Failure, name, print};
use crate::input::read_all_of;
use crate::progress::Progress;

pub(crate) fn run(args: ReportArgs) -> Result<(), Failure> {
    args.files.check("report");
    let mut progress = Progress::new();
    let read = read_all_of(&args.files, args.window, &mut progress)?;
    progress.end();
    let recordings = recordings(&read.statemaps);
    let has_heads = recordings.len() > 1;
    for (index, recording) in recordings.iter().enumerate() {
        if index > 0 {
            print("\n")?;
        }
        let (report, of) = match recording {
            Recording::Run { timeline, files, .. } if args.profile => {
                (timeline.profile().to_string(), &files[..])
            }
            Recording::Other { file, .. } if args.profile => (
                "This data says nothing of async functions.".to_owned(),
                std::slice::from_ref(file),
            ),
            Recording::Run { timeline, files, .. } => (timeline.report().to_string(), &files[..]),
            Recording::Other { data, file, .. } => {
                (data.report().to_string(), std::slice::from_ref(file))
            }
            _ => continue,
        };
        if has_heads {
            let names = of.iter().map(|&data| name(&args.files.files[read.of[data]]));
            let mut names: Vec<_> = names.collect();
            names.dedup();
            print(&format!("==> {} <==\n", clean(&names.join(", "))))?;
        }
        print(&format!("{report}\n"))?;
    }
    Ok(())
}
