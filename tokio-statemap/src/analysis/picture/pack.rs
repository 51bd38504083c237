//! Packs rows into lanes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packs rows into lanes: a row may follow one that ended no later than it begins.
///
/// `lives` are the rows with their begin and end; the end is `None` if the row lasts to the edge. Appends the rows to
/// `rows` lane by lane, each lane in the order of time, and the begin of each lane in `rows` to `lanes`. A row gets the
/// topmost free lane, so that rows that last long stay on top.
pub(crate) fn pack(
    lives: &mut [(u64, Option<u64>, u32)],
    rows: &mut Vec<u32>,
    lanes: &mut Vec<u32>,
) {
    lives.sort_unstable_by_key(|&(begin, _, row)| (begin, row));
    let mut busy: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    // Free lanes have the time 0, so that both heaps have the same type.
    let mut free: BinaryHeap<Reverse<(u64, u32)>> = BinaryHeap::new();
    // The lane of each row, and the number of rows of each lane.
    let mut lane_of: Vec<u32> = Vec::with_capacity(lives.len());
    let mut sizes: Vec<u32> = Vec::new();
    for &(begin, end, _) in lives.iter() {
        while let Some(&Reverse((ended, lane))) = busy.peek() {
            if ended > begin {
                break;
            }
            busy.pop();
            free.push(Reverse((0, lane)));
        }
        let lane = match free.pop() {
            Some(Reverse((_, lane))) => lane,
            None => {
                sizes.push(0);
                sizes.len() as u32 - 1
            }
        };
        sizes[lane as usize] += 1;
        lane_of.push(lane);
        if let Some(end) = end {
            busy.push(Reverse((end, lane)));
        }
    }
    let first = rows.len();
    let mut next: Vec<u32> = Vec::with_capacity(sizes.len());
    let mut at = first as u32;
    for size in sizes {
        lanes.push(at);
        next.push(at);
        at += size;
    }
    rows.resize(first + lives.len(), 0);
    for (nth, &(_, _, row)) in lives.iter().enumerate() {
        let place = &mut next[lane_of[nth] as usize];
        rows[*place as usize] = row;
        *place += 1;
    }
}
