//! Arrays that are sorted by ids.

/// Returns the place of `id` in an array sorted by ids, or else the place where it would be. A tree would take more
/// stack, and hooks have little.
pub(super) fn find<T>(all: &[(u32, T)], id: u32) -> Result<usize, usize> {
    find_id(all.len(), id, &|place| all[place].0)
}

/// Returns the place of `id`, which is created if necessary.
pub(super) fn place_of<T: Default>(all: &mut Vec<(u32, T)>, id: u32) -> usize {
    find(all, id).unwrap_or_else(|place| {
        all.insert(place, (id, T::default()));
        place
    })
}

fn find_id(len: usize, id: u32, id_at: &dyn Fn(usize) -> u32) -> Result<usize, usize> {
    let (mut from, mut to) = (0, len);
    while from < to {
        let middle = from.midpoint(to);
        let here = id_at(middle);
        if here == id {
            return Ok(middle);
        }
        *(if here < id { &mut from } else { &mut to }) =
            if here < id { middle + 1 } else { middle };
    }
    Err(from)
}
