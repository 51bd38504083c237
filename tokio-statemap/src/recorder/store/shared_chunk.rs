//! Chunks shared by several streams: each run follows a note with its stream.

use crate::recorder::record::{Kind, Record};
use crate::recorder::store::segment::{RecordWriter, Segment, Sequence, SharedChunk, StreamId};
use crate::sys::sync::Arc;

/// Appends the runs of a shared chunk to `into`.
pub(crate) fn split_streams(chunk: &SharedChunk, into: &mut Vec<Segment>) {
    for (i, record) in chunk.items().iter().enumerate() {
        if record.kind() == Kind::Stream {
            let (stream, sequence) = noted_stream(*record);
            into.push(Segment::new(stream, sequence, Arc::clone(chunk), i + 1..i + 1));
        } else if let Some(run) = into.last_mut() {
            // A shared chunk begins with a note.
            run.range.end = i + 1;
        }
    }
}

/// Adds a run to a shared chunk, which must have room for it and its note.
pub(crate) fn write_run(
    writer: &RecordWriter,
    stream: StreamId,
    sequence: Sequence,
    records: &[Record],
) {
    let Some(first) = records.first() else { return };
    let note = stream_note(first.ticks, stream, sequence);
    let mut fits = writer.push(note);
    for &record in records {
        fits &= writer.push(record);
    }
    debug_assert!(fits);
}

const SEQUENCE_BITS: u32 = 28;

fn stream_note(ticks: u64, stream: StreamId, sequence: Sequence) -> Record {
    let sequence = u64::from(sequence) & ((1 << SEQUENCE_BITS) - 1);
    let payload = u64::from(stream) << SEQUENCE_BITS | sequence;
    Record::new(ticks, Kind::Stream, payload)
}

fn noted_stream(record: Record) -> (StreamId, Sequence) {
    let payload = record.payload();
    let sequence = payload & ((1 << SEQUENCE_BITS) - 1);
    ((payload >> SEQUENCE_BITS) as StreamId, sequence as Sequence)
}
