//! One map for all code that isn't hot.
//!
//! The maps of the standard library are compiled for each pair of types, several kilobytes of machine code each time.
//! Here, only a vector of entries is compiled for each pair; the code that finds entries is compiled once.

mod index;

use std::borrow::Borrow;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};

use index::Index;

/// Values by keys, in the order in which the keys were added.
#[derive(Clone, Debug)]
pub(crate) struct Map<K, V> {
    /// The keys of the hash function. They are random, because the author of a file chooses the keys of some maps: with
    /// known hashes, all entries could be made to collide.
    random: RandomState,
    index: Index,
    entries: Vec<(K, V)>,
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { random: RandomState::new(), index: Index::default(), entries: Vec::new() }
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
        self.find(key, self.hash(&key)).map(|at| &self.entries[at].1)
    }

    pub(crate) fn get_mut<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.find(key, self.hash(&key)).map(|at| &mut self.entries[at].1)
    }

    /// Sets the value of `key`.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        let hash = self.hash(&key);
        match self.find(&key, hash) {
            Some(at) => self.entries[at].1 = value,
            None => self.push(key, value, hash),
        }
    }

    /// Returns the value of `key`. If there is none, it becomes the result of `make`.
    pub(crate) fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let hash = self.hash(&key);
        let at = match self.find(&key, hash) {
            Some(at) => at,
            None => {
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

    fn hash(&self, key: &impl Hash) -> u64 {
        // The closure is passed by a pointer, as the hash function would otherwise be compiled for each type.
        hashed(&self.random, &|mut hasher| key.hash(&mut hasher))
    }

    fn push(&mut self, key: K, value: V, hash: u64) {
        self.index.push(hash);
        self.entries.push((key, value));
    }

    fn find<Q: Hash + Eq + ?Sized>(&self, key: &Q, hash: u64) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        self.index.find(hash, &|at| self.entries[at].0.borrow() == key)
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

#[inline(never)]
fn hashed(random: &RandomState, feed: &dyn Fn(&mut dyn Hasher)) -> u64 {
    let mut hasher = random.build_hasher();
    feed(&mut hasher);
    hasher.finish()
}

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
        let hashes: BTreeSet<u64> = (0..10).map(|_| Map::<u8, u8>::default().hash(&7_u8)).collect();
        assert_eq!(hashes.len(), 10);
    }

    #[test]
    fn of_several_values_the_last_is_kept() {
        let map: Map<_, _> = [(1, "a"), (2, "b"), (1, "c")].into_iter().collect();
        assert_eq!(map.into_iter().collect::<Vec<_>>(), [(1, "c"), (2, "b")]);
    }
}
