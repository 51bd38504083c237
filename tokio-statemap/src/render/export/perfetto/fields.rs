//! The field numbers of Perfetto's `protos/perfetto/trace/`, and values of some fields.

/// `Trace`
pub(super) const PACKET: u32 = 1;

/// `TracePacket`
pub(super) mod packet {
    pub(in super::super) const CLOCK_SNAPSHOT: u32 = 6;
    pub(in super::super) const TIMESTAMP: u32 = 8;
    pub(in super::super) const SEQUENCE: u32 = 10;
    pub(in super::super) const TRACK_EVENT: u32 = 11;
    pub(in super::super) const INTERNED_DATA: u32 = 12;
    pub(in super::super) const SEQUENCE_FLAGS: u32 = 13;
    pub(in super::super) const TRACK_DESCRIPTOR: u32 = 60;

    /// All interned data is forgotten.
    pub(in super::super) const CLEARED: u64 = 1;
    /// The packet needs data that was interned before.
    pub(in super::super) const NEEDS_STATE: u64 = 2;
}

/// `ClockSnapshot` and its `Clock`
pub(super) mod clock {
    pub(in super::super) const CLOCKS: u32 = 1;
    pub(in super::super) const PRIMARY: u32 = 2;
    pub(in super::super) const ID: u32 = 1;
    pub(in super::super) const TIMESTAMP: u32 = 2;

    pub(in super::super) const REALTIME: u64 = 1;
    /// The clock of timestamps, unless they name another.
    pub(in super::super) const BOOTTIME: u64 = 6;
}

/// `TrackDescriptor` and `CounterDescriptor`
pub(super) mod track {
    pub(in super::super) const UUID: u32 = 1;
    pub(in super::super) const NAME: u32 = 2;
    pub(in super::super) const PARENT: u32 = 5;
    pub(in super::super) const COUNTER: u32 = 8;
    pub(in super::super) const CHILD_ORDERING: u32 = 11;
    pub(in super::super) const RANK: u32 = 12;
    pub(in super::super) const COUNTER_UNIT: u32 = 3;

    pub(in super::super) const CHRONOLOGICAL: u64 = 2;
    /// Sorted by the ranks of the children.
    pub(in super::super) const EXPLICIT: u64 = 3;
    pub(in super::super) const UNIT_COUNT: u64 = 2;
}

/// `TrackEvent` and `DebugAnnotation`
pub(super) mod event {
    pub(in super::super) const CATEGORY: u32 = 3;
    pub(in super::super) const ANNOTATION: u32 = 4;
    pub(in super::super) const TYPE: u32 = 9;
    pub(in super::super) const NAME: u32 = 10;
    pub(in super::super) const TRACK: u32 = 11;
    pub(in super::super) const COUNTER_VALUE: u32 = 30;
    pub(in super::super) const FLOW: u32 = 47;
    pub(in super::super) const TERMINATING_FLOW: u32 = 48;

    pub(in super::super) const BEGIN: u64 = 1;
    pub(in super::super) const END: u64 = 2;
    pub(in super::super) const INSTANT: u64 = 3;
    pub(in super::super) const COUNTER: u64 = 4;

    pub(in super::super) const ARGUMENT: u32 = 1;
    pub(in super::super) const BOOL: u32 = 2;
    pub(in super::super) const UINT: u32 = 3;
    pub(in super::super) const STRING: u32 = 17;
}

/// `InternedData`; in each entry, field 1 is the number and field 2 the value.
pub(super) mod interned {
    pub(in super::super) const CATEGORIES: u32 = 1;
    pub(in super::super) const EVENT_NAMES: u32 = 2;
    pub(in super::super) const ARGUMENT_NAMES: u32 = 3;
    pub(in super::super) const STRINGS: u32 = 29;
    pub(in super::super) const ID: u32 = 1;
    pub(in super::super) const VALUE: u32 = 2;
}
