//! Finds the parts of a page.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::Deserialize;

use super::{MOST_INFLATED, at, damaged};
use crate::error::ReadError;
use crate::render::html::origin;

/// The parts of a page that are more than decoration.
pub(super) struct Parts<'a> {
    pub(super) meta: Meta,
    pub(super) tail: Tail,
    pub(super) chunks: Vec<Element<'a>>,
    pub(super) origins: Vec<Element<'a>>,
}

/// Data in base64, and its place in the page.
pub(super) struct Element<'a> {
    pub(super) byte: usize,
    base64: &'a str,
}

/// The metadata before the columns.
#[derive(Debug, Deserialize)]
pub(super) struct Meta {
    format: u64,
    pub(super) unit: u64,
    pub(super) sections: Vec<SectionMeta>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SectionMeta {
    pub(super) has_tags: bool,
    #[serde(default)]
    pub(super) has_wakers: bool,
    pub(super) has_workers: bool,
    pub(super) states: Vec<StateMeta>,
    pub(super) tags: Vec<TagMeta>,
    /// Row, time, event and target.
    pub(super) events: Vec<(u32, u64, String, Option<String>)>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StateMeta {
    pub(super) role: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct TagMeta {
    pub(super) fields: Vec<(String, String)>,
    pub(super) state: u32,
    pub(super) tag: String,
}

/// The metadata behind the columns.
#[derive(Debug, Deserialize)]
pub(super) struct Tail {
    chunks: u64,
    pub(super) sections: Vec<TailSection>,
}

#[derive(Debug, Deserialize)]
pub(super) struct TailSection {
    pub(super) prefixes: Vec<String>,
    pub(super) rows: u64,
    pub(super) transitions: u64,
}

const META: &str = "<script type=\"application/json\" id=\"statemap-meta\">";
const TAIL: &str = "<script type=\"application/json\" id=\"statemap-tail\">";
pub(super) const CHUNK: &str = "<script type=\"text/plain\" class=\"statemap-chunk\">";

impl<'a> Parts<'a> {
    pub(super) fn parse(text: &'a str) -> Result<Self, ReadError> {
        let (mut meta, mut tail) = (None, None);
        let (mut chunks, mut origins) = (Vec::new(), Vec::new());
        let mut from = 0;
        while let Some(found) = text[from..].find("<script") {
            let byte = from + found;
            let begin = text[byte..].find('>').map_or(text.len(), |end| byte + end + 1);
            let Some(length) = text[begin..].find("</script>") else {
                return Err(damaged(text, byte, "this part of it has no end"));
            };
            let content = &text[begin..begin + length];
            match &text[byte..begin] {
                META => meta = Some(json::<Meta>(text, begin, content)?),
                TAIL => tail = Some(json::<Tail>(text, begin, content)?),
                CHUNK => chunks.push(Element { byte: begin, base64: content }),
                origin::ELEMENT => origins.push(Element { byte: begin, base64: content }),
                _ => {}
            }
            from = begin + length;
        }
        let end = text.len();
        let meta = meta.ok_or_else(|| damaged(text, end, "its first part is missing"))?;
        let tail = tail.ok_or_else(|| damaged(text, end, "its last part is missing"))?;
        if meta.format != 1 || !meta.unit.is_power_of_two() {
            return Err(at(
                text.as_bytes(),
                0,
                "this page is of another version of tokio-statemap",
            ));
        }
        if tail.chunks != chunks.len() as u64 || tail.sections.len() != meta.sections.len() {
            let problem = format!("{} of {} parts are there", chunks.len(), tail.chunks);
            return Err(damaged(text, end, &problem));
        }
        if origins.is_empty() && !meta.sections.is_empty() {
            let problem =
                "this page has only what is drawn: an earlier version wrote it; give the data";
            return Err(at(text.as_bytes(), 0, problem));
        }
        Ok(Self { meta, tail, chunks, origins })
    }
}

fn json<'a, T: Deserialize<'a>>(text: &str, byte: usize, json: &'a str) -> Result<T, ReadError> {
    let problem = |error: serde_json::Error| {
        let column = error.column().saturating_sub(1);
        damaged(text, (byte + column).min(text.len()), "this isn't what was written here")
    };
    serde_json::from_str(json).map_err(problem)
}

impl Element<'_> {
    /// Returns the inflated content.
    pub(super) fn inflate(&self) -> Result<Vec<u8>, String> {
        let bytes = STANDARD.decode(self.base64).map_err(|_| "this is no base64".to_owned())?;
        decompress_to_vec_with_limit(&bytes, MOST_INFLATED)
            .map_err(|_| "this can't be inflated".to_owned())
    }
}
