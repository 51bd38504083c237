//! `tokio-statemap render`.

use std::io::Write;
use std::path::Path;

use tokio_statemap::picture::{Picture, SourceFiles};
use tokio_statemap::{html, svg};

use crate::args::{Format, RenderArgs, refuse_overwrite};
use crate::failure::Failure;
use crate::input::read_all;
use crate::progress::Progress;
use crate::{export, output};

pub(crate) fn run(args: RenderArgs) -> Result<(), Failure> {
    args.files.check("render");
    let format = args.format();
    refuse_overwrite("render", &args.output, &args.files.files);
    let progress = Progress::new();
    let input = read_all(&args.files, args.window, &progress)?;
    if !matches!(format, Format::Html | Format::Svg) {
        return export::run(&args, format, &input, &progress);
    }
    let mut picture = Picture::of_data(&input.statemaps);
    if let Some(title) = args.title {
        picture = picture.with_title(title);
    }
    if let Some(folder) = &args.source {
        picture = picture.with_source(&source_files(folder)?);
    }
    let mut options = svg::Options::default();
    options.max_bytes = args.max_size.unwrap_or(options.max_bytes);
    progress.begin("writing", None);
    let written = output::write(&args.output, |w: &mut dyn Write| {
        let w = progress.count_writes(w);
        match format {
            Format::Html => html::write(&picture, w),
            _ => svg::write_with(&picture, &options, w),
        }
    });
    progress.end();
    written
}

/// Returns the source files in a folder.
pub(crate) fn source_files(folder: &Path) -> Result<SourceFiles, Failure> {
    // A wrong folder would otherwise go unnoticed: files that aren't found are left out.
    match folder.is_dir() {
        true => Ok(SourceFiles::in_folder(folder.to_owned())),
        false => Err(Failure::in_file(folder, "this is no directory")),
    }
}
