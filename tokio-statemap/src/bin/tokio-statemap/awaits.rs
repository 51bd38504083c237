//! `tokio-statemap awaits`.

use std::io::{BufWriter, Write};
use std::path::Path;

use tokio_statemap::__private::{Awaits, write_html, write_text};

use crate::args::{AwaitsArgs, refuse_terminal};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(args: &AwaitsArgs) -> Result<(), Failure> {
    if let Some(output) = &args.html {
        refuse_terminal("awaits", "--html", output);
    }
    let awaits = Awaits::open(&args.binary);
    let awaits = awaits.map_err(|problem| Failure::in_file(&args.binary, problem))?;
    let trees = awaits.trees(args.pattern.as_deref(), args.all);
    if trees.is_empty() {
        let problem = match &args.pattern {
            Some(pattern) => format!("no async fn has `{pattern}` in its path"),
            None if awaits.is_empty() => "this program has no async fn".to_owned(),
            None => "this program has no async fn of its own; `--all` shows those of dependencies"
                .to_owned(),
        };
        return Err(Failure::in_file(&args.binary, problem));
    }
    let Some(html) = &args.html else {
        return output::write(Path::new("-"), |mut w| write_text(&trees, &mut w));
    };
    let title = args.binary.file_name().unwrap_or(args.binary.as_os_str()).to_string_lossy();
    output::write(html, |w| {
        let mut w = BufWriter::new(w);
        write_html(&trees, &title, &mut w)?;
        w.flush()
    })
}
