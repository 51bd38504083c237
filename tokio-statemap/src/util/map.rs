//! One map for all code that isn't hot.
//!
//! The maps of the standard library are compiled for each pair of types, several kilobytes of machine code each time.
//! Here, only a vector of entries is compiled for each pair; the code that finds entries is compiled once.

mod index;

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};

use index::{Index, Search};

/// Values by keys, in the order in which the keys were added.
#[derive(Clone, Debug)]
pub(crate) struct Map<K, V> {
    index: Index,
    entries: Vec<(K, V)>,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { index: Index::new(), entries: Vec::new() }
    }
}

impl<K: Hash + Eq, V> Map<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| &self.entries[at].1)
    }

    pub(crate) fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key).ok().map(|at| &mut self.entries[at].1)
    }

    /// Sets the value of `key`.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        match self.find(&key) {
            Ok(at) => self.entries[at].1 = value,
            Err(hash) => self.push(key, value, hash),
        }
    }

    /// Returns the value of `key`. If there is none, it becomes the result of `make`.
    pub(crate) fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let at = match self.find(&key) {
            Ok(at) => at,
            Err(hash) => {
                self.push(key, make(), hash);
                self.entries.len() - 1
            }
        };
        &mut self.entries[at].1
    }

    /// Returns the value of `key`. If there is none, it becomes the default.
    pub(crate) fn get_or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        self.get_or_insert_with(key, V::default)
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// Returns the entries, sorted by their keys.
    pub(crate) fn into_sorted(self) -> Vec<(K, V)>
    where
        K: Ord,
    {
        let mut entries = self.entries;
        super::sort::by(&mut entries, |(a, _), (b, _)| a.cmp(b));
        entries
    }

    fn push(&mut self, key: K, value: V, hash: u32) {
        self.index.push(hash, self.entries.len());
        self.entries.push((key, value));
    }

    /// Returns the index of the entry with this key, or the hash of the key if there is none.
    fn find<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Result<usize, u32>
    where
        K: Borrow<Q>,
    {
        self.index.find(&Wanted(&self.entries, key))
    }
}

/// Entries, and the key of the one that is wanted.
struct Wanted<'a, K, V, Q: ?Sized>(&'a [(K, V)], &'a Q);

impl<K: Borrow<Q>, V, Q: Hash + Eq + ?Sized> Search for Wanted<'_, K, V, Q> {
    fn hash(&self, mut hasher: &mut dyn Hasher) {
        self.1.hash(&mut hasher);
    }

    fn is_at(&self, entry: usize) -> bool {
        self.0[entry].0.borrow() == self.1
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K: Hash + Eq, V> FromIterator<(K, V)> for Map<K, V> {
    /// Keeps the last of several values of a key.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<K: Hash + Eq, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| self.insert(key, value));
    }
}

/// Two maps are equal if they have the same entries, in any order.
impl<K: Hash + Eq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: Hash + Eq, V: Eq> Eq for Map<K, V> {}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::util::random::Random;

    #[test]
    fn it_finds_what_a_tree_finds() {
        let mut random = Random(3);
        for n in 0..200 {
            let (mut map, mut tree) = (Map::default(), BTreeMap::new());
            for _ in 0..n {
                let key = random.below(n / 2 + 1).to_string();
                *map.get_or_default(key.clone()) += 1;
                *tree.entry(key).or_default() += 1;
            }
            for key in 0..=n / 2 {
                let key = key.to_string();
                assert_eq!(map.get(&*key), tree.get(&*key));
                assert_eq!(map.get_mut(&*key), tree.get_mut(&*key));
            }
            assert_eq!(map.len(), tree.len());
            assert!(map.iter().all(|(key, value)| tree[key] == *value));
            let expected: Vec<(String, i32)> = tree.into_iter().collect();
            assert_eq!(map.clone().into_sorted(), expected);
            assert_eq!(map.into_iter().collect::<Map<_, _>>().into_sorted(), expected);
        }
    }

    #[test]
    fn hashes_of_a_key_differ_between_maps() {
        let hashes: BTreeSet<u32> =
            (0..10).filter_map(|_| Map::<u8, u8>::default().find(&7).err()).collect();
        assert_eq!(hashes.len(), 10);
    }

    #[test]
    fn of_several_values_the_last_is_kept() {
        let map: Map<_, _> = [(1, "a"), (2, "b"), (1, "c")].into_iter().collect();
        assert_eq!(map.into_iter().collect::<Vec<_>>(), [(1, "c"), (2, "b")]);
    }
}
