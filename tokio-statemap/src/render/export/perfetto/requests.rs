//! The tracks of requests: the longest spans of `tracing` of each kind.

use std::io::{self, Write};

use super::context::{Context, rank};
use super::trace::{Children, Kind, Trace};
use crate::trace::requests::RequestSpan;

/// Writes the spans that are known one by one.
pub(super) fn write(context: &Context<'_>, trace: &mut Trace<impl Write>) -> io::Result<()> {
    let timeline = context.timeline();
    let rows = &timeline.requests().rows;
    // They are those of the whole run, of which this may be a part.
    let shown = |span: &RequestSpan| span.within(timeline.begin_ns, timeline.end_ns);
    if rows.iter().flat_map(|row| &row.longest).all(|span| shown(span).is_none()) {
        return Ok(());
    }
    let all = trace.track("Requests", Some(context.track), rank::REQUESTS, Children::Ranked)?;
    let arguments = ["task", "running_ns", "ready_ns", "waiting_ns", "elsewhere_ns", "unknown_ns"];
    let arguments = arguments.map(|name| trace.argument(name));
    for (index, row) in rows.iter().enumerate() {
        let name = row.to_string();
        for span in &row.longest {
            let Some((from_ns, to_ns)) = shown(span) else { continue };
            // Spans may overlap, so each has a track. Those of one name are drawn as one.
            let track = trace.track(&name, Some(all), index as u64 + 1, Children::None)?;
            let task = span.task.map(|task| trace.string(&task.to_string()));
            let parts = &span.parts;
            let [of_task, of_parts @ ..] = arguments;
            let numbers = [
                parts.running_ns,
                parts.ready_ns,
                parts.waiting_ns,
                parts.elsewhere_ns,
                parts.unknown_ns,
            ];
            let at_ns = context.at(from_ns);
            trace.event(Kind::Begin, track, at_ns, Some((&name, "request")), |event| {
                task.into_iter().for_each(|task| event.text(of_task, task));
                for (argument, number) in of_parts.into_iter().zip(numbers) {
                    event.number(argument, number);
                }
            })?;
            trace.end(track, context.at(to_ns))?;
        }
    }
    Ok(())
}
