//! Writes the table of requests.

use std::io;

use super::run::{List, Number, Parts};
use super::stream::Text;
use crate::trace::requests::{Cause, Parts as SpanParts, Requests};
use crate::util::json::{Json, Raw, array, list};

/// Returns the facts about requests for the first definition, if there are any.
pub(super) fn facts(requests: &Requests) -> Option<[Number; 3]> {
    let Requests { open, cut, lost, .. } = *requests;
    (!requests.is_empty()).then_some([Number(open), Number(cut), Number(lost)])
}

impl Parts {
    pub(super) fn requests(&mut self, requests: &Requests, text: &mut Text<'_>) -> io::Result<()> {
        for of in &requests.rows {
            let times = of.times;
            let [mean, p50, p90, p99, longest] =
                [times.mean_ns, times.p50_ns, times.p90_ns, times.p99_ns, times.longest_ns];
            self.entry(
                text,
                List::Requests,
                &[
                    &&*of.name,
                    &&*of.target,
                    &&*of.fields,
                    &Number(of.count),
                    &[mean, p50, p90, p99, longest].map(Number),
                    &Number(of.total_ns),
                    &Number(of.running_ns),
                    &Number(of.own_ns),
                    &parts(&of.parts),
                    &parts(&of.slowest),
                ],
            )?;
        }
        for (row, of) in requests.rows.iter().enumerate() {
            for span in &of.longest {
                let entry: [&dyn Json; 4] =
                    [&row, &span.task, &Number(span.opened_ns), &parts(&span.parts)];
                self.entry(text, List::RequestSpans, &entry)?;
            }
        }
        Ok(())
    }
}

fn parts(of: &SpanParts) -> Raw {
    let cause = |cause: &Cause| (cause.state.name(), cause.place.clone(), Number(cause.length_ns));
    list(&[
        &Number(of.spans),
        &Number(of.length_ns),
        &Number(of.running_ns),
        &Number(of.ready_ns),
        &Number(of.waiting_ns),
        &Number(of.elsewhere_ns),
        &Number(of.unknown_ns),
        &array(&of.causes, cause),
    ])
}
