//! The labels under which spans are summed up, by number.

use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use crate::recorder::kept::RecorderId;
use crate::util::map::Map;
use crate::util::sync::lock;

/// The properties shared by the spans that are summed up together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Label {
    pub(crate) name: &'static str,
    /// The module that opens them, unless the program gave another target.
    pub(crate) target: &'static str,
    /// The values of the selected fields, with a space between two of them.
    pub(crate) fields: String,
}

/// The most labels that are told apart.
pub(super) const MOST: usize = 1000;
/// The number of the label for all spans beyond.
pub(super) const OTHERS: usize = 0;

#[derive(Debug)]
pub(super) struct Labels(Mutex<Map<Label, usize>>);

const SLOTS: usize = 64;

thread_local! {
    /// The labels that this thread used last: the recorder, a hash of the label, and its number.
    static LAST: [Cell<(RecorderId, u64, usize)>; SLOTS] =
        const { [const { Cell::new((0, 0, OTHERS)) }; SLOTS] };
}

impl Labels {
    pub(super) fn new() -> Self {
        let mut all = Map::default();
        let others = Label { name: "(others)", target: "", fields: String::new() };
        all.insert(others, OTHERS);
        Self(Mutex::new(all))
    }

    /// Returns the number of a label. A thread that used it lately takes no lock.
    pub(super) fn number(&self, recorder_id: RecorderId, label: Label) -> usize {
        let mut hasher = DefaultHasher::new();
        // Names are static, so their addresses are hashed faster.
        let names = [label.name, label.target].map(|name| name.as_ptr().addr());
        (names, label.name.len(), &label.fields).hash(&mut hasher);
        let hash = hasher.finish();
        LAST.with(|last| {
            let last = &last[hash as usize % SLOTS];
            match last.get() {
                (recorder, known, number) if recorder == recorder_id && known == hash => number,
                _ => {
                    let number = self.find(label);
                    last.set((recorder_id, hash, number));
                    number
                }
            }
        })
    }

    #[cold]
    #[inline(never)]
    fn find(&self, label: Label) -> usize {
        let mut all = lock(&self.0);
        if let Some(&number) = all.get(&label) {
            return number;
        }
        if all.len() > MOST {
            return OTHERS;
        }
        let number = all.len();
        all.insert(label, number);
        number
    }

    /// Returns all labels, by number.
    pub(super) fn all(&self) -> Vec<Label> {
        let all = lock(&self.0);
        let mut labels = Vec::with_capacity(all.len());
        for (label, _) in all.iter() {
            labels.push(label.clone());
        }
        labels
    }
}
