//! The tasks that live.

use crate::engine::id_map::IdMap;
use crate::engine::roster::LocationId;

/// A task that lived when the last of its dropped records was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) location: Option<LocationId>,
    pub(crate) parent: Option<u64>,
    pub(crate) polled: bool,
    /// The window that it was last seen in; it may have ended in a gap since.
    pub(super) window: usize,
    /// Of a root future, whose number is used again: when it began.
    pub(super) spawned_ticks: u64,
}

/// Whether a member of the roster lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lives {
    Surely,
    /// Recording was stopped since it was seen.
    Perhaps,
}

/// The tasks that live, by their number.
///
/// Most live so briefly that their end is dropped with their spawn, or soon after. So a new one is
/// where the lower bits of its number say, and is moved to the map when another one needs its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    /// None until there was one: most programs that keep the first events never drop any.
    young: Option<Box<Places>>,
    others: IdMap<Member>,
}

type Places = [Option<(u64, Member)>; Members::YOUNG];

impl Members {
    /// As many as are spawned in a chunk or two.
    const YOUNG: usize = 512;

    fn place(id: u64) -> usize {
        id as usize % Self::YOUNG
    }

    pub(super) fn get(&self, id: u64) -> Option<&Member> {
        match self.young.as_ref().and_then(|young| young[Self::place(id)].as_ref()) {
            Some((young, member)) if *young == id => Some(member),
            _ => self.others.get(&id),
        }
    }

    /// The task `id`. If it isn't here it is from now on, unless it `is_gone`.
    #[inline]
    pub(super) fn get_or_add(
        &mut self,
        id: u64,
        is_gone: impl FnOnce() -> bool,
    ) -> Option<&mut Member> {
        let young = self.young.get_or_insert_with(|| Box::new([None; Self::YOUNG]));
        let place = &mut young[Self::place(id)];
        if place.as_ref().is_none_or(|(young, _)| *young != id) {
            if self.others.contains_key(&id) {
                return self.others.get_mut(&id);
            }
            if is_gone() {
                return None;
            }
            if let Some((before, member)) = place.replace((id, Member::default())) {
                self.others.insert(before, member);
            }
        }
        place.as_mut().map(|(_, member)| member)
    }

    /// Takes out the task `id`; whether it was here.
    #[inline]
    pub(super) fn remove(&mut self, id: u64) -> bool {
        let place = self.young.as_mut().map(|young| &mut young[Self::place(id)]);
        let young = place.and_then(|place| place.take_if(|(young, _)| *young == id));
        young.is_some() || self.others.remove(&id).is_some()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Member)> {
        let young = self.young.iter().flat_map(|young| young.iter().flatten());
        let young = young.map(|(id, member)| (*id, member));
        young.chain(self.others.iter().map(|(&id, member)| (id, member)))
    }

    pub(super) fn retain(&mut self, is_kept: impl Fn(&Member) -> bool) {
        for place in self.young.iter_mut().flat_map(|young| young.iter_mut()) {
            place.take_if(|(_, member)| !is_kept(member));
        }
        self.others.retain(|_, member| is_kept(member));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAME_PLACE: u64 = 7 + Members::YOUNG as u64;

    fn of(ids: &[u64]) -> Members {
        let mut members = Members::default();
        for &id in ids {
            members.get_or_add(id, || false).unwrap().location = Some(id as LocationId);
        }
        members
    }

    fn ids(members: &Members) -> Vec<u64> {
        let mut ids: Vec<u64> = members.iter().map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids
    }

    #[test]
    fn who_needs_the_same_place_is_here_as_well() {
        // The second time each is found where it is.
        let members = of(&[7, SAME_PLACE, 7, SAME_PLACE]);
        assert_eq!(ids(&members), [7, SAME_PLACE]);
        for id in [7, SAME_PLACE] {
            assert_eq!(members.get(id).unwrap().location, Some(id as LocationId));
        }
    }

    #[test]
    fn who_leaves_was_here_once() {
        let mut members = of(&[7, SAME_PLACE, 8]);
        for id in [SAME_PLACE, 7] {
            assert!(members.remove(id));
            assert!(!members.remove(id));
        }
        assert_eq!(ids(&members), [8]);
    }

    #[test]
    fn who_is_gone_is_not_added() {
        let mut members = of(&[7, SAME_PLACE]);
        assert!(members.get_or_add(9, || true).is_none());
        assert!(members.get_or_add(7, || true).is_some());
        assert!(members.get_or_add(SAME_PLACE, || true).is_some());
        assert_eq!(ids(&members), [7, SAME_PLACE]);
    }

    #[test]
    fn who_is_not_kept_leaves_every_place() {
        let mut members = of(&[7, 8, SAME_PLACE]);
        members.retain(|member| member.location == Some(8));
        assert_eq!(ids(&members), [8]);
    }
}
