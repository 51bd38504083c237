"""Reads a trace as Perfetto does, and prints what is in it: `read_trace.py FILE`.

By Perfetto's own trace_processor, where TRACE_PROCESSOR is the path of that program; else by the schema that the package
`perfetto` publishes. What is printed is what `Trace::summary` in tests/src/pftrace.rs has, and by which of the two it was read.
"""

import collections
import json
import os
import sys

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

OWN_NS = "own_ns"


def path(tracks, track):
    name, parent = tracks[track]
    return name if parent is None else f"{path(tracks, parent)} / {name}"


def unknown_fields(message):
    """The fields of a message, and of those in it, that the schema doesn't have."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    found = [field.field_number for field in UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            values = value if hasattr(value, "append") or hasattr(value, "add") else [value]
            for inner in values:
                found += unknown_fields(inner)
    return found


def by_schema(file):
    trace = schema.Trace()
    with open(file, "rb") as opened:
        trace.ParseFromString(opened.read())
    event = schema.TrackEvent
    tracks, counters, events, names = {}, set(), [], {}
    for packet in trace.packet:
        assert not unknown_fields(packet), packet
        if packet.sequence_flags & schema.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            names.clear()
        data = packet.interned_data
        for kind in ("event_categories", "event_names", "debug_annotation_names"):
            for entry in getattr(data, kind):
                names[kind, entry.iid] = entry.name
        for entry in data.debug_annotation_string_values:
            names["strings", entry.iid] = entry.str.decode()
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            parent = track.parent_uuid if track.HasField("parent_uuid") else None
            tracks[track.uuid] = (track.name, parent)
            if track.HasField("counter"):
                assert track.counter.unit == schema.CounterDescriptor.UNIT_COUNT
                counters.add(track.uuid)
        if packet.HasField("track_event"):
            of = packet.track_event
            arguments = {}
            for argument in of.debug_annotations:
                name = names["debug_annotation_names", argument.name_iid]
                kind = argument.WhichOneof("value")
                assert kind in ("uint_value", "bool_value", "string_value_iid"), argument
                value = getattr(argument, kind)
                arguments[name] = names["strings", value] if kind == "string_value_iid" else value
            if of.type in (event.TYPE_SLICE_BEGIN, event.TYPE_INSTANT):
                assert names["event_names", of.name_iid]
                assert [names["event_categories", iid] for iid in of.category_iids]
            events.append((packet.timestamp, of, arguments))
    events.sort(key=lambda of: of[0])
    slices, values = {}, {}
    opened = collections.defaultdict(list)
    begun, flows = set(), 0
    for time, of, arguments in events:
        where = path(tracks, of.track_uuid)
        assert (of.track_uuid in counters) == (of.type == event.TYPE_COUNTER)
        if of.type == event.TYPE_COUNTER:
            values.setdefault(where, []).append([time, of.counter_value])
        elif of.type == event.TYPE_SLICE_END:
            slices[where][1] += time - opened[of.track_uuid].pop()
        else:
            sums = slices.setdefault(where, [0, 0, 0])
            sums[0] += 1
            sums[2] += arguments.get(OWN_NS, 0)
            if of.type == event.TYPE_SLICE_BEGIN:
                opened[of.track_uuid].append(time)
            for flow in of.terminating_flow_ids:
                assert flow in begun, flow
                begun.remove(flow)
                flows += 1
            begun.update(of.flow_ids)
    assert not begun and not any(opened.values())
    return {"slices": slices, "counters": values, "flows": flows}


def by_trace_processor(file):
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

    config = TraceProcessorConfig(bin_path=os.environ["TRACE_PROCESSOR"])
    with TraceProcessor(trace=file, config=config) as processor:
        ask = processor.query
        problems = ask("SELECT name, value FROM stats WHERE severity != 'info' AND value > 0")
        problems = [(row.name, row.value) for row in problems]
        assert not problems, problems
        tracks = {row.id: (row.name, row.parent_id) for row in ask("SELECT id, name, parent_id FROM track")}
        own = f"extract_arg(arg_set_id, 'debug.{OWN_NS}')"
        slices, values = {}, {}
        for row in ask(f"SELECT track_id, dur, {own} AS own_ns FROM slice"):
            assert row.dur >= 0
            sums = slices.setdefault(path(tracks, row.track_id), [0, 0, 0])
            sums[0] += 1
            sums[1] += row.dur
            sums[2] += row.own_ns or 0
        for row in ask("SELECT track_id, ts, value FROM counter ORDER BY ts"):
            values.setdefault(path(tracks, row.track_id), []).append([row.ts, int(row.value)])
        flows = sum(1 for _ in ask("SELECT id FROM flow"))
        return {"slices": slices, "counters": values, "flows": flows}


if __name__ == "__main__":
    how = by_trace_processor if "TRACE_PROCESSOR" in os.environ else by_schema
    print(json.dumps({"by": how.__name__, "summary": how(sys.argv[1])}))
