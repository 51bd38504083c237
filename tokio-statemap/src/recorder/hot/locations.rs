//! Spawn locations by index, so that a record can hold one.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::Mutex;

use crate::recorder::boxed::boxed_array;
use crate::recorder::id_map::IdMap;
use crate::recorder::record::LocationId;
use crate::util::sync::lock;

type StaticLocation = &'static Location<'static>;

/// All spawn locations of a recorder.
#[derive(Debug, Default)]
pub(crate) struct Locations(Mutex<LocationTable>);

#[derive(Debug, Default)]
struct LocationTable {
    ids: HashMap<usize, LocationId>,
    locations: Vec<StaticLocation>,
}

impl Locations {
    /// Returns the index of `location`.
    pub(crate) fn id(&self, location: StaticLocation) -> LocationId {
        let mut table = lock(&self.0);
        let next = table.locations.len() as LocationId;
        let id = *table.ids.entry(address(location)).or_insert(next);
        if id == next {
            table.locations.push(location);
        }
        id
    }

    /// Returns all locations, by index.
    pub(crate) fn to_vec(&self) -> Vec<StaticLocation> {
        lock(&self.0).locations.clone()
    }
}

/// One thread's cache of location indices, so that it locks the table once per location.
#[derive(Debug)]
pub(crate) struct KnownLocations {
    /// Direct-mapped by a few bits of the address; most programs have fewer spawn locations than
    /// this.
    cache: Box<[(usize, LocationId); Self::SLOTS]>,
    all: IdMap<LocationId>,
}

impl KnownLocations {
    const SLOTS: usize = 32;

    pub(crate) fn new() -> Self {
        let mut all = IdMap::default();
        all.reserve(64);
        Self { cache: boxed_array((0, 0)), all }
    }

    #[inline]
    pub(crate) fn id(&mut self, location: StaticLocation, table: &Locations) -> LocationId {
        let address = address(location);
        // A `Location` is 24 bytes, and they are laid out one after the other.
        let place = &mut self.cache[address / 8 % Self::SLOTS];
        if place.0 != address {
            let id = *self.all.entry(address as u64).or_insert_with(|| table.id(location));
            *place = (address, id);
        }
        place.1
    }
}

/// Returns the identity of a location.
#[inline]
pub(crate) fn address(location: StaticLocation) -> usize {
    std::ptr::from_ref(location).addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_location_has_one_index_on_every_thread() {
        let table = Locations::default();
        let places = [Location::caller(), Location::caller()];
        let (mut one, mut other) = (KnownLocations::new(), KnownLocations::new());
        for _ in 0..2 {
            assert_eq!(one.id(places[0], &table), 0);
            assert_eq!(other.id(places[1], &table), 1);
            assert_eq!(other.id(places[0], &table), 0);
        }
        assert_eq!(table.to_vec(), places);
    }
}
