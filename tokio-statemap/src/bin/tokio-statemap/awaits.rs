//! `tokio-statemap awaits`.

use std::io::{self, BufWriter, Write};

use tokio_statemap::__private::{Awaits, write_file, write_html, write_text};

use crate::args::{AwaitsArgs, refuse_terminal};
use crate::failure::Failure;

pub(crate) fn run(args: &AwaitsArgs) -> Result<(), Failure> {
    if let Some(output) = &args.html {
        refuse_terminal("awaits", "--html", output);
    }
    let awaits = Awaits::open(&args.binary);
    let awaits = awaits.map_err(|problem| Failure::of(&args.binary, problem))?;
    let trees = awaits.trees(args.pattern.as_deref(), args.all);
    if trees.is_empty() {
        let problem = match &args.pattern {
            Some(pattern) => format!("no async fn has `{pattern}` in its path"),
            None if awaits.is_empty() => "no async fn is in it".to_owned(),
            None => {
                "no async fn of its own is in it: `--all` shows those of dependencies".to_owned()
            }
        };
        return Err(Failure::of(&args.binary, problem));
    }
    let Some(output) = &args.html else {
        let mut stdout = BufWriter::new(io::stdout().lock());
        let written = write_text(&trees, &mut stdout).and_then(|()| stdout.flush());
        return written.map_err(|error| Failure::stdout(&error));
    };
    let title = args.binary.file_name().unwrap_or(args.binary.as_os_str()).to_string_lossy();
    let write = |w: &mut dyn Write| {
        let mut w = BufWriter::new(w);
        write_html(&trees, &title, &mut w)?;
        w.flush()
    };
    if output.as_os_str() == "-" {
        return write(&mut io::stdout().lock()).map_err(|error| Failure::stdout(&error));
    }
    write_file(output, write).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::of(output, format_args!("can't be written: {error}")),
    })
}
