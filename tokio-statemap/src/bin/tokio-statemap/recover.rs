//! `tokio-statemap recover`.

use tokio_statemap::__private::is_live;

use crate::args::{Files, RecoverArgs, RenderArgs, ReportArgs, WindowArgs};
use crate::boxes;
use crate::failure::Failure;
use crate::input::{recovered, unharmed};
use crate::output::write;
use crate::{render, report};

pub(crate) fn run(args: RecoverArgs) -> Result<(), Failure> {
    let mut found = boxes::named(&args.what)?;
    // The newest of a dead process is last.
    found.sort_by_key(|found| (is_live(&found.path) == Some(false), boxes::written(found)));
    let Some(found) = found.pop() else { return Ok(()) };
    let files = Files { files: vec![found.path.clone()] };
    let window = WindowArgs { begin: None, duration: None };
    let Some(output) = args.output else {
        return report::run(&ReportArgs { files, profile: false, requests: false, window });
    };
    if output.extension().is_some_and(|end| end == "json") {
        let data = unharmed(&found.path, || Ok(recovered(&found.path)?.timeline.to_data()))?;
        return write(&output, |w| data.write_tasks(w).map_err(std::io::Error::other));
    }
    let (format, title, source, max_size) = (None, None, None, None);
    render::run(RenderArgs {
        files,
        output,
        format,
        window,
        title,
        source,
        max_size,
        requests: false,
    })
}
