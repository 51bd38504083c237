//! The switches of a thread in one payload.

use crate::recorder::record::PAYLOAD_BITS;

/// The switches and major page faults of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    /// The number of times it gave up the processor, as it blocked.
    pub(crate) voluntary: u64,
    /// The number of times its processor was taken.
    pub(crate) involuntary: u64,
    /// The number of page faults that waited for the disk.
    pub(crate) major_faults: u64,
}

/// The bits of each count of switches, and of the major page faults, in one payload. The counts wrap around.
const VOLUNTARY_BITS: u32 = 22;
const INVOLUNTARY_BITS: u32 = 20;
const FAULT_BITS: u32 = PAYLOAD_BITS - VOLUNTARY_BITS - INVOLUNTARY_BITS;

impl Switches {
    /// Packs the counts into the payload of one record, modulo its capacity.
    pub(crate) fn pack(self) -> u64 {
        let low = |value: u64, bits: u32| value & ((1 << bits) - 1);
        let rest = low(self.involuntary, INVOLUNTARY_BITS) << FAULT_BITS
            | low(self.major_faults, FAULT_BITS);
        low(self.voluntary, VOLUNTARY_BITS) << (INVOLUNTARY_BITS + FAULT_BITS) | rest
    }

    /// Returns what was added from one [packed](Self::pack) payload to a later one.
    pub(crate) fn between(earlier: u64, later: u64) -> Self {
        let added = |shift: u32, bits: u32| {
            let mask = (1 << bits) - 1;
            (later >> shift & mask).wrapping_sub(earlier >> shift & mask) & mask
        };
        Self {
            voluntary: added(INVOLUNTARY_BITS + FAULT_BITS, VOLUNTARY_BITS),
            involuntary: added(FAULT_BITS, INVOLUNTARY_BITS),
            major_faults: added(0, FAULT_BITS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_counted_on_where_they_wrap_around() {
        let switches = |voluntary, involuntary, major_faults| Switches {
            voluntary,
            involuntary,
            major_faults,
        };
        for (earlier, later) in [
            (switches(0, 0, 0), switches(3, 2, 1)),
            (switches(1 << 21, 7, 16_383), switches((1 << 21) + 1, 7, 16_384)),
            (switches((1 << 22) - 1, (1 << 20) - 2, 9), switches(1 << 22, (1 << 20) + 5, 9)),
        ] {
            let added = Switches::between(earlier.pack(), later.pack());
            assert_eq!(added.voluntary, later.voluntary - earlier.voluntary);
            assert_eq!(added.involuntary, later.involuntary - earlier.involuntary);
            assert_eq!(added.major_faults, later.major_faults - earlier.major_faults);
        }
    }
}
