//! Generates statemap data of every kind and mutates it: truncates, mixes and invents.
//!
//! Each file is determined by its number.

mod edits;
mod seeds;

pub use seeds::Seeds;

/// A pseudo-random sequence (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the sequence with this seed.
    pub fn new(seed: u64) -> Self {
        // splitmix64 gives consecutive seeds unrelated sequences.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    /// Returns any number.
    pub fn any(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.any() >> 33) as usize) % n.max(1)
    }

    /// Returns true once in `one_in` calls, on average.
    pub fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    /// Returns one of the given values.
    pub fn pick<'a, T: ?Sized>(&mut self, values: &[&'a T]) -> &'a T {
        values[self.below(values.len())]
    }
}

impl Seeds {
    /// Returns an unmutated file.
    pub fn whole(&self, number: u64) -> Vec<u8> {
        self.any(&mut Random::new(number))
    }

    /// Returns the file with this number, and the sequence that decides on the operations on it.
    pub fn file(&self, number: u64) -> (Vec<u8>, Random) {
        let mut random = Random::new(number);
        let mut file = self.any(&mut random);
        // Some files stay as they are: files that pass the check must be drawn, too.
        let edits = match random.below(8) {
            0 => 0,
            1..6 => 1,
            _ => 2 + random.below(6),
        };
        for _ in 0..edits {
            edits::edit(&mut random, &mut file, self);
        }
        (file, random)
    }
}
