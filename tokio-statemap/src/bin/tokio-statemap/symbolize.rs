//! `tokio-statemap symbolize`.

use std::io::{self, Write};

use tokio_statemap::__private::{clean, has_addresses, symbolize, write_file};
use tokio_statemap::statemap::read::read;
use tokio_statemap::statemap::{Recording, recordings, write_tasks};

use crate::args::SymbolizeArgs;
use crate::failure::{Failure, line, name, print};
use crate::input::read_with;
use crate::progress::Progress;
use crate::usage::misused;

pub(crate) fn run(args: &SymbolizeArgs) -> Result<(), Failure> {
    let is_packed = args.file.extension().is_some_and(|name| name.eq_ignore_ascii_case("gz"));
    if args.output.is_none() && is_packed {
        let problem = format!(
            "{} is compressed, and what is written isn't: say where by `-o FILE`",
            args.file.display()
        );
        misused("symbolize", &problem);
    }
    let output = args.output.as_ref().unwrap_or(&args.file);
    let is_stdout = output.as_os_str() == "-";
    // What is read there is the data.
    let say = |text: String| match is_stdout {
        true => {
            line(&text);
            Ok(())
        }
        false => print(&format!("{}\n", clean(&text))),
    };
    let mut progress = Progress::new();
    let files = [read_with(&args.file, &mut progress, |input| read(input))?];
    let Some(Recording::Run { mut timeline, labels, .. }) = recordings(&files).pop() else {
        let problem = "this isn't the data of a run as tokio-statemap wrote it";
        return Err(Failure::of(&args.file, problem));
    };
    drop(files);
    progress.end();
    let file = name(&args.file);
    if !has_addresses(&timeline) {
        return say(format!("{file}: nothing to do: no function is an address with a build id"));
    }
    let done = symbolize(&mut timeline, &args.binary);
    let done = done.map_err(|problem| Failure::of(&args.binary, problem))?;
    progress.begin("writing", None);
    let mut write = |w: &mut dyn Write| write_tasks(&timeline, &labels, progress.counting(w));
    if is_stdout {
        write(&mut io::stdout().lock()).map_err(|error| Failure::stdout(&error))?;
    } else {
        write_file(output, write).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::of(output, format_args!("can't be written: {error}")),
        })?;
    }
    drop(progress);
    let left = match done.left {
        0 => String::new(),
        left => format!(", {left} are still addresses"),
    };
    say(format!("{file}: {} addresses have names{left}", done.found))
}
