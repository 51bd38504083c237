//! `tokio-statemap render`.

use std::io::{self, Write};
use std::path::Path;

use tokio_statemap::__private::write_file;
use tokio_statemap::picture::{Picture, SourceFiles};
use tokio_statemap::{html, svg};

use crate::args::{Format, RenderArgs};
use crate::export;
use crate::failure::Failure;
use crate::input::{AllRead, read_all};
use crate::progress::Progress;

pub(crate) fn run(args: RenderArgs) -> Result<(), Failure> {
    args.files.check("render");
    let format = args.format();
    args.check_output();
    let mut progress = Progress::new();
    let AllRead { statemaps: files, of } = read_all(&args.files, args.window, &mut progress)?;
    if !matches!(format, Format::Html | Format::Svg) {
        return export::run(&args, format, &files, &of, progress);
    }
    let mut picture = Picture::of_data(&files);
    if let Some(title) = args.title {
        picture = picture.with_title(title);
    }
    if let Some(folder) = &args.source {
        picture = picture.with_source(&source_in(folder)?);
    }
    let mut options = svg::Options::default();
    options.max_bytes = args.max_size.unwrap_or(options.max_bytes);
    progress.begin("writing", None);
    let mut draw = |w: &mut dyn Write| {
        let w = progress.counting(w);
        match format {
            Format::Html => html::write(&picture, w),
            _ => svg::write_with(&picture, &options, w),
        }
    };
    if args.output.as_os_str() == "-" {
        return draw(&mut io::stdout().lock()).map_err(|error| Failure::stdout(&error));
    }
    write_file(&args.output, draw).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::of(&args.output, format_args!("can't be written: {error}")),
    })
}

/// The source files in a folder.
pub(crate) fn source_in(folder: &Path) -> Result<SourceFiles, Failure> {
    // Otherwise they would be looked for in vain, and nobody would know why.
    match folder.is_dir() {
        true => Ok(SourceFiles::in_folder(folder.to_owned())),
        false => Err(Failure::of(folder, "this is no directory")),
    }
}
