//! Hash maps keyed by task id.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map keyed by ids. Ids are dense, so a multiplication suffices as the hash: `hashbrown` also
/// uses the upper bits.
pub(crate) type IdMap<V> = HashMap<u64, V, BuildHasherDefault<SpreadId>>;

/// Spreads an integer over all bits by one multiplication.
#[derive(Debug, Default)]
pub(crate) struct SpreadId(KeepU64);

/// A hasher whose result is the last integer written to it.
#[derive(Debug, Default)]
pub(crate) struct KeepU64(pub(crate) u64);

impl Hasher for KeepU64 {
    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }

    fn write(&mut self, bytes: &[u8]) {
        // Only for a type that hashes itself as bytes; `check_casts` detects that.
        for chunk in bytes.chunks(8) {
            let mut buffer = [0; 8];
            buffer[..chunk.len()].copy_from_slice(chunk);
            self.0 = u64::from_ne_bytes(buffer);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Hasher for SpreadId {
    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0.0 = value.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(26);
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn finish(&self) -> u64 {
        self.0.0
    }
}
