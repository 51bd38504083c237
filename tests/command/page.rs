//! An independent reader of pages, which knows only their description.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec;
use serde_json::Value;
use tests::page::check;

/// A section of a page.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) kind: String,
    /// Name and role.
    pub(super) states: Vec<(String, String)>,
    /// Label and rows.
    pub(super) groups: Vec<(String, u64)>,
    pub(super) rows: Vec<Row>,
    pub(super) meta: Value,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) is_root: bool,
    /// Time, state, tag.
    pub(super) changes: Vec<(u64, usize, Option<usize>)>,
}

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) meta: Value,
    pub(super) length_ns: u64,
    pub(super) sections: Vec<Section>,
}

/// The time of an entity in a state and tag, by entity, state and tag.
pub(super) type Totals = BTreeMap<(String, String, Option<String>), u64>;

impl Page {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let page = check(bytes).unwrap();
        let text = std::str::from_utf8(bytes).unwrap();
        let mut sections: Vec<Section> =
            page.meta["sections"].as_array().unwrap().iter().map(Section::new).collect();
        for chunk in text.split("class=\"statemap-chunk\">").skip(1) {
            let (base64, _) = chunk.split_once("</script>").unwrap();
            let inflated = decompress_to_vec(&STANDARD.decode(base64).unwrap()).unwrap();
            read_chunk(&inflated, &mut sections, &page.tail);
        }
        let length_ns = page.meta["length"].as_u64().unwrap();
        Self { meta: page.meta, length_ns, sections }
    }

    pub(super) fn notes(&self) -> Vec<&str> {
        let notes = self.meta["notes"].as_array().unwrap();
        notes.iter().map(|note| note.as_str().unwrap()).collect()
    }

    /// Returns the time of each entity in each state that is drawn.
    pub(super) fn totals(&self, section: &Section) -> Totals {
        let mut totals = Totals::new();
        for row in &section.rows {
            let ends = row.changes.iter().skip(1).map(|change| change.0).chain([self.length_ns]);
            for (&(time, state, tag), end) in row.changes.iter().zip(ends) {
                let tag = tag.map(|tag| section.meta["tags"][tag]["tag"].as_str().unwrap());
                let key = (row.name.clone(), section.states[state].0.clone());
                *totals.entry((key.0, key.1, tag.map(str::to_owned))).or_default() += end - time;
            }
        }
        totals
    }
}

impl Section {
    fn new(meta: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = |key: &str| meta[key].as_array().unwrap().iter();
        Self {
            title: text(&meta["title"]),
            kind: text(&meta["kind"]),
            states: list("states")
                .map(|state| (text(&state["name"]), text(&state["role"])))
                .collect(),
            groups: list("groups")
                .map(|group| (text(&group["label"]), group["rows"].as_u64().unwrap()))
                .collect(),
            rows: Vec::new(),
            meta: meta.clone(),
        }
    }
}

struct Column<'a>(&'a [u8]);

impl Column<'_> {
    fn varint(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = self.0.split_first().unwrap();
            self.0 = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }

    fn text(&mut self) -> String {
        let length = self.varint() as usize;
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8(text.to_vec()).unwrap()
    }
}

fn read_chunk(bytes: &[u8], sections: &mut [Section], tail: &Value) {
    let mut head = Column(bytes);
    let index = head.varint() as usize;
    let pieces = head.varint();
    let lengths: Vec<usize> = (0..6).map(|_| head.varint() as usize).collect();
    let mut rest = head.0;
    let mut columns = lengths.into_iter().map(|length| {
        let (column, behind) = rest.split_at(length);
        rest = behind;
        Column(column)
    });
    let mut next = || columns.next().unwrap();
    let (mut rows, mut times, mut states) = (next(), next(), next());
    let (mut workers, mut tags, mut wakers) = (next(), next(), next());
    let section = &mut sections[index];
    let is = |key: &str| section.meta[key].as_bool().unwrap();
    let (has_workers, has_tags, has_wakers) = (is("hasWorkers"), is("hasTags"), is("hasWakers"));
    for _ in 0..pieces {
        let (flags, count) = (rows.varint(), rows.varint());
        if flags & 1 != 0 {
            let name = match rows.varint() {
                0 => rows.text(),
                prefix => {
                    let prefix = &tail["sections"][index]["prefixes"][prefix as usize - 1];
                    format!("{}{}", prefix.as_str().unwrap(), rows.varint())
                }
            };
            let _parent = rows.varint();
            let description = (flags & 4 != 0).then(|| rows.text());
            let is_root = flags & 8 != 0;
            section.rows.push(Row { name, description, is_root, changes: Vec::new() });
        }
        let mut time = 0;
        for _ in 0..count {
            time += times.varint();
            let state = states.varint() as usize;
            let is_poll = section.states[state].1 == "running";
            if has_workers && is_poll && workers.varint() & 1 != 0 {
                workers.varint();
            }
            if has_wakers && is_poll {
                wakers.varint();
            }
            let tag = if has_tags { tags.varint().checked_sub(1) } else { None };
            let change = (time, state, tag.map(|tag| tag as usize));
            section.rows.last_mut().unwrap().changes.push(change);
        }
    }
    for column in [rows, times, states, workers, tags, wakers] {
        assert!(column.0.is_empty(), "a column is longer than its chunk says");
    }
}
