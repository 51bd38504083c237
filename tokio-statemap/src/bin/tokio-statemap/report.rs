//! `tokio-statemap report`.

use tokio_statemap::__private::clean;

use crate::args::Report;
use crate::failure::{Failure, name, print};
use crate::input::read_all;
use crate::progress::Progress;

pub(crate) fn run(args: Report) -> Result<(), Failure> {
    args.files.check("report");
    let mut progress = Progress::new();
    let files = read_all(&args.files, args.window, &mut progress)?;
    progress.end();
    let has_heads = files.len() > 1;
    for (index, (statemap, file)) in files.iter().zip(&args.files.files).enumerate() {
        if index > 0 {
            print("\n")?;
        }
        if has_heads {
            print(&format!("==> {} <==\n", clean(&name(file))))?;
        }
        print(&format!("{}\n", statemap.report()))?;
    }
    Ok(())
}
