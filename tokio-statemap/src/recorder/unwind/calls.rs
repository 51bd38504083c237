//! Checks whether functions call one another, to find out which of several readings of a stack is true.
//!
//! A stack has old return addresses in it, in the parts of frames that are not written to yet. A walk that takes one
//! for a frame gets to the thread's beginning all the same. But at some place the caller calls another function than
//! the one that the walk says it calls.

use std::ops::Range;

use crate::sys::threads::stack::modules::LoadedModule;
use crate::sys::threads::stack::read_memory;

/// The evidence of a call before a return address; later variants are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// No call.
    Nothing,
    /// A call of another function. True stacks have a few: that function jumped on to the present one.
    CallOfAnother,
    /// A call of an address that isn't known.
    SomeCall,
    /// A call of the function that was called.
    TheCall,
}

/// The beginnings of the functions of a module.
#[derive(Debug)]
pub(super) struct Functions {
    module: Range<u64>,
    /// The address to which the table's distances are relative.
    table_at: u64,
    /// The distance of each function, and that of its unwind information.
    table: Vec<[u8; 8]>,
}

impl Functions {
    /// Reads the table of `.eh_frame_hdr`, whose content is `bytes` (Linux Standard Base, *Exception Frames*).
    pub(super) fn from_module(module: &LoadedModule, bytes: &[u8]) -> Self {
        /// The number of functions has four bytes; the table has signed numbers of four bytes each,
        /// relative to where the section begins.
        const ENCODINGS: [u8; 2] = [0x03, 0x3b];
        let mut functions = Vec::new();
        match bytes {
            [1, _, count, table, _, _, _, _, rest @ ..] if [*count, *table] == ENCODINGS => {
                let (count, pairs) = rest.split_at_checked(4).unwrap_or_default();
                let count = count.try_into().map_or(0, u32::from_ne_bytes) as usize;
                for pair in pairs.chunks_exact(8).take(count) {
                    functions.extend(<[u8; 8]>::try_from(pair));
                }
            }
            _ => {}
        }
        let (module, table_at) = (module.range.clone(), module.eh_frame_hdr.start);
        Self { module, table_at, table: functions }
    }

    /// Returns the addresses from the beginning of the function that `address` is in to that of the next function.
    fn function(&self, address: u64) -> Option<Range<u64>> {
        let start = |&[a, b, c, d, ..]: &[u8; 8]| {
            let distance = i32::from_ne_bytes([a, b, c, d]);
            self.table_at.wrapping_add_signed(i64::from(distance))
        };
        let next = self.table.partition_point(|pair| start(pair) <= address);
        let from = self.table.get(next.checked_sub(1)?).map(start)?;
        Some(from..self.table.get(next).map_or(self.module.end, start))
    }
}

/// Returns the evidence at `call`, the last byte before the address that the function of `callee` returns to.
pub(super) fn found_at(call: u64, callee: u64, functions: &[Functions]) -> Found {
    match call_that_ends_at(call.wrapping_add(1)) {
        None => Found::Nothing,
        Some(Call::Unknown) => Found::SomeCall,
        Some(Call::Of(target))
            if is_same_function(target, callee, functions)
                || is_same_function(after_jumps(target), callee, functions)
                || ends_with(target, callee, functions) =>
        {
            Found::TheCall
        }
        Some(Call::Of(_)) => Found::CallOfAnother,
    }
}

/// Returns the number of places without a call that may be one of the function that was called. The addresses are
/// within the functions' calls, the innermost first.
pub(super) fn doubts(addresses: &[u64], functions: &[Functions]) -> usize {
    let mut doubts = 0;
    for pair in addresses.windows(2) {
        doubts += usize::from(found_at(pair[1], pair[0], functions) < Found::SomeCall);
    }
    doubts
}

fn is_same_function(a: u64, b: u64, functions: &[Functions]) -> bool {
    let (a, b) = (function_of(a, functions), function_of(b, functions));
    matches!((a, b), (Some(a), Some(b)) if a.start == b.start)
}

fn function_of(address: u64, functions: &[Functions]) -> Option<Range<u64>> {
    functions.iter().find(|of| of.module.contains(&address))?.function(address)
}

/// Returns whether the function at `target` has a jump to the beginning of that of `callee`. If its last act is to call
/// that, it may jump instead, and leaves nothing on the stack.
fn ends_with(target: u64, callee: u64, functions: &[Functions]) -> bool {
    /// The longest part of a function that is read, from its beginning.
    const MOST: usize = 4096;
    let (Some(function), Some(callee)) =
        (function_of(target, functions), function_of(callee, functions))
    else {
        return false;
    };
    // The bytes behind the function are zero here.
    let mut code = [0; MOST + 7];
    let len = usize::try_from(function.end.saturating_sub(target)).unwrap_or(MOST).min(MOST);
    read_memory(target, &mut code[..len]);
    for offset in 0..len {
        let mut here = [0; 8];
        here.copy_from_slice(&code[offset..offset + 8]);
        if jump_in(here, target + offset as u64) == Some(callee.start) {
            return true;
        }
    }
    false
}

/// Returns the address that a call of `target` gets to: some functions do nothing but jump to another one.
fn after_jumps(target: u64) -> u64 {
    /// Longer chains of functions that only jump are rare.
    const MOST: usize = 2;
    let mut at = target;
    for _ in 0..MOST {
        let mut code = [0; 8];
        let is_read = read_memory(at, &mut code) == code.len();
        match is_read.then(|| jump_in(code, at)).flatten() {
            Some(to) => at = to,
            None => break,
        }
    }
    at
}

/// A call instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    /// A call of the function at this address.
    Of(u64),
    /// A call of an address that the instruction doesn't say.
    Unknown,
}

/// Returns the call just before the address `returns_to`; `None` if there is none.
fn call_that_ends_at(returns_to: u64) -> Option<Call> {
    let mut bytes = [0; 8];
    let is_read = read_memory(returns_to.wrapping_sub(8), &mut bytes) == bytes.len();
    is_read.then(|| call_in(bytes, returns_to)).flatten()
}

/// Returns the call at the end of `code`. (Intel 64 manual, volume 2, CALL: `E8` and a distance, or `FF /2`. Of the
/// latter, `FF 15` has the distance to the place of the address: calls of other crates and libraries are like this.)
#[cfg(target_arch = "x86_64")]
fn call_in(code: [u8; 8], returns_to: u64) -> Option<Call> {
    // There are two bytes, and up to five more for the operand's place.
    let is_indirect = (2..=7).any(|len| {
        let [first, second] = [code[8 - len], code[9 - len]];
        first == 0xff && second & 0x38 == 0x10
    });
    match code {
        [_, _, 0xff, 0x15, distance @ ..] => {
            let distance = i64::from(i32::from_le_bytes(distance));
            let mut target = [0; 8];
            let read = read_memory(returns_to.wrapping_add_signed(distance), &mut target);
            let target = (read == target.len()).then(|| u64::from_le_bytes(target));
            Some(target.map_or(Call::Unknown, Call::Of))
        }
        _ if is_indirect => Some(Call::Unknown),
        [_, _, _, 0xe8, distance @ ..] => {
            let distance = i64::from(i32::from_le_bytes(distance));
            Some(Call::Of(returns_to.wrapping_add_signed(distance)))
        }
        _ => None,
    }
}

/// Returns the target of the jump that `code` at `address` begins with. (The same manual, JMP: `E9` and a distance, or
/// `FF 25` and the distance to the place of the address.)
#[cfg(target_arch = "x86_64")]
fn jump_in(code: [u8; 8], address: u64) -> Option<u64> {
    let behind = |length, distance: [u8; 4]| {
        let distance = i64::from(i32::from_le_bytes(distance));
        address.wrapping_add(length).wrapping_add_signed(distance)
    };
    match code {
        [0xe9, a, b, c, d, ..] => Some(behind(5, [a, b, c, d])),
        [0xff, 0x25, a, b, c, d, ..] => {
            let mut target = [0; 8];
            let is_read = read_memory(behind(6, [a, b, c, d]), &mut target) == target.len();
            is_read.then(|| u64::from_le_bytes(target))
        }
        _ => None,
    }
}

/// Returns the target of the jump that `code` at `address` begins with. (Arm A64 instruction set, B.)
#[cfg(target_arch = "aarch64")]
fn jump_in(code: [u8; 8], address: u64) -> Option<u64> {
    let [a, b, c, d, ..] = code;
    let instruction = u32::from_le_bytes([a, b, c, d]);
    let distance = i64::from(((instruction << 6) as i32) >> 6) * 4;
    (instruction & 0xfc00_0000 == 0x1400_0000).then(|| address.wrapping_add_signed(distance))
}

/// Returns the call at the end of `code`. (Arm A64 instruction set, BL and BLR.)
#[cfg(target_arch = "aarch64")]
fn call_in(code: [u8; 8], returns_to: u64) -> Option<Call> {
    let [.., a, b, c, d] = code;
    let instruction = u32::from_le_bytes([a, b, c, d]);
    if instruction & 0xffff_fc1f == 0xd63f_0000 {
        return Some(Call::Unknown);
    }
    // The low 26 bits are a distance in instructions.
    let distance = i64::from(((instruction << 6) as i32) >> 6) * 4;
    let is_call = instruction & 0xfc00_0000 == 0x9400_0000;
    is_call.then(|| Call::Of(returns_to.wrapping_sub(4).wrapping_add_signed(distance)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn calls_are_told_from_other_code() {
        for (code, call) in [
            ([0x90, 0x90, 0x90, 0xe8, 0x10, 0, 0, 0], Some(Call::Of(0x1010))),
            ([0x90, 0x90, 0x90, 0xe8, 0xf0, 0xff, 0xff, 0xff], Some(Call::Of(0xff0))),
            ([0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0], Some(Call::Unknown)), // call rax
            ([0x90, 0x90, 0xff, 0x15, 0x10, 0, 0, 0], Some(Call::Unknown)), // call [rip + 16]
            ([0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0x50, 0x18], Some(Call::Unknown)), // call [rax + 24]
            ([0x90, 0x90, 0xff, 0x25, 0x10, 0, 0, 0], None), // jmp [rip + 16]
            ([0x90; 8], None),
        ] {
            assert_eq!(call_in(code, 0x1000), call, "{code:x?}");
        }
        assert_eq!(jump_in([0xe9, 0x0b, 0, 0, 0, 0x90, 0x90, 0x90], 0x1000), Some(0x1010));
        assert_eq!(jump_in([0x90; 8], 0x1000), None);
    }

    #[cfg(target_arch = "aarch64")]
    #[test]
    fn calls_are_told_from_other_code() {
        let of = |instruction: u32| {
            let [a, b, c, d] = instruction.to_le_bytes();
            call_in([0, 0, 0, 0, a, b, c, d], 0x1000)
        };
        assert_eq!(of(0x9400_0002), Some(Call::Of(0x1004)));
        assert_eq!(of(0x97ff_ffff), Some(Call::Of(0xff8)));
        assert_eq!(of(0xd63f_0100), Some(Call::Unknown));
        assert_eq!(of(0xd503_201f), None);
        assert_eq!(jump_in([2, 0, 0, 0x14, 0, 0, 0, 0], 0x1000), Some(0x1008));
    }

    #[test]
    fn a_function_begins_where_the_table_says() {
        let module = LoadedModule {
            #[cfg(has_black_box)]
            notes: Vec::new(),
            path: None,
            is_program: true,
            base: 0,
            range: 0..0x10000,
            code: Vec::new(),
            eh_frame_hdr: 0x8000..0x8100,
            eh_frame: 0..0,
        };
        let mut bytes = vec![1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0];
        bytes.extend(2_u32.to_ne_bytes());
        for distance in [-0x7000_i32, 0x10, -0x6000, 0x20, 0, 0] {
            bytes.extend(distance.to_ne_bytes());
        }
        let functions = Functions::from_module(&module, &bytes);
        for (address, function) in
            [(0xfff, None), (0x1000, Some(0x1000..0x2000)), (0x9000, Some(0x2000..0x10000))]
        {
            assert_eq!(functions.function(address), function);
        }
        assert!(is_same_function(0x1000, 0x1fff, &[functions]));
        assert_eq!(Functions::from_module(&module, &[1, 0x1b, 0xff, 0x3b]).function(0x1000), None);
    }

    #[test]
    fn a_function_that_jumps_on_at_its_end_is_known() {
        // This is code as a compiler makes it, at the addresses of the two functions.
        #[cfg(target_arch = "x86_64")]
        let code: [[u8; 8]; 2] = [[0x90, 0xe9, 0x02, 0, 0, 0, 0x90, 0x90], [0xc3; 8]];
        #[cfg(target_arch = "aarch64")]
        let code: [[u8; 8]; 2] =
            [[0x1f, 0x20, 0x03, 0xd5, 0x01, 0, 0, 0x14], [0xc0, 0x03, 0x5f, 0xd6, 0, 0, 0, 0]];
        let from = code.as_ptr().addr() as u64;
        let table = |places: [u64; 2]| Functions {
            module: from..from + 16,
            table_at: from,
            table: places.map(|at| [at as u8, 0, 0, 0, 0, 0, 0, 0]).to_vec(),
        };
        assert!(ends_with(from, from + 8, &[table([0, 8])]));
        assert!(!ends_with(from, from + 9, &[table([0, 9])]), "it jumps elsewhere");
        assert!(!ends_with(from, from, &[]));
    }
}
