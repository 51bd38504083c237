//! Checks that a page or an SVG is complete.
//!
//! Like [`check`](crate::check) this shares no code with the library. The columns of a page are
//! checked by the page's own tests.

use serde_json::Value;

/// The content of a valid page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The JSON before the columns.
    pub meta: Value,
    /// The JSON after the columns.
    pub tail: Value,
    /// The number of chunks of columns.
    pub chunks: usize,
}

impl Page {
    /// The number of rows in the sections of `kind`.
    pub fn rows(&self, kind: &str) -> u64 {
        let sections = self.meta["sections"].as_array().into_iter().flatten();
        let tails = self.tail["sections"].as_array().into_iter().flatten();
        let of_kind = sections.zip(tails).filter(|(section, _)| section["kind"] == kind);
        of_kind.filter_map(|(_, tail)| tail["rows"].as_u64()).sum()
    }

    /// The notes on what is missing.
    pub fn notes(&self) -> Vec<&str> {
        let notes = self.meta["notes"].as_array().into_iter().flatten();
        notes.filter_map(Value::as_str).collect()
    }
}

/// Checks a whole page.
///
/// # Errors
///
/// What is missing, or not expected.
pub fn check(bytes: &[u8]) -> Result<Page, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("not UTF-8: {e}"))?;
    if !text.starts_with("<!doctype html>\n") {
        return Err("it doesn't begin as a page".to_owned());
    }
    if !text.ends_with("</html>\n") || text.matches("</html>").count() != 1 {
        return Err("it doesn't end as one page".to_owned());
    }
    let (meta, rest) = island(text, "statemap-meta")?;
    let (tail, _) = island(rest, "statemap-tail")?;
    let mut chunks = 0;
    for chunk in rest.split("class=\"statemap-chunk\">").skip(1) {
        let (chunk, _) = chunk.split_once("</script>").ok_or("a chunk doesn't end")?;
        let is_base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
        if chunk.is_empty() || chunk.len() % 4 != 0 || !chunk.bytes().all(is_base64) {
            return Err("a chunk is no base64".to_owned());
        }
        chunks += 1;
    }
    if tail["chunks"].as_u64() != Some(chunks as u64) {
        return Err(format!("there are {chunks} chunks, not {}", tail["chunks"]));
    }
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (sections, tails) = (list(&meta["sections"]), list(&tail["sections"]));
    if sections.len() != tails.len() {
        return Err("its sections aren't all there".to_owned());
    }
    for (section, tail) in sections.iter().zip(&tails) {
        let rows: u64 = list(&section["groups"]).iter().filter_map(|g| g["rows"].as_u64()).sum();
        if tail["rows"].as_u64() != Some(rows) {
            return Err(format!("a section of {rows} rows has {}", tail["rows"]));
        }
    }
    Ok(Page { meta, tail, chunks })
}

/// The JSON in the element `id`, and the text after it.
fn island<'a>(text: &'a str, id: &str) -> Result<(Value, &'a str), String> {
    let begin = format!("<script type=\"application/json\" id=\"{id}\">");
    let (_, from) = text.split_once(&begin).ok_or_else(|| format!("there is no {id}"))?;
    let (json, rest) = from.split_once("</script>").ok_or_else(|| format!("{id} doesn't end"))?;
    if json.contains(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        return Err(format!("{id} isn't escaped"));
    }
    let value = serde_json::from_str(json).map_err(|e| format!("{id} is no JSON: {e}"))?;
    Ok((value, rest))
}

/// Checks a whole SVG.
///
/// # Errors
///
/// What is missing.
pub fn check_svg(bytes: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("not UTF-8: {e}"))?;
    if !text.starts_with("<svg") && !text.starts_with("<?xml") {
        return Err("it doesn't begin as an SVG".to_owned());
    }
    if !text.trim_end().ends_with("</svg>") {
        return Err("it doesn't end as an SVG".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check, check_svg};

    fn page(chunks: &str, tail: &str) -> String {
        let json = "<script type=\"application/json\" id=\"statemap";
        format!(
            "<!doctype html>\n<html>{json}-meta\">{{\"sections\":[{{\"kind\":\"tasks\",\
             \"groups\":[{{\"rows\":2}},{{\"rows\":1}}]}}],\"notes\":[\"n\"]}}</script>{chunks}\
             {json}-tail\">{tail}</script></html>\n"
        )
    }

    #[test]
    fn missing_parts_are_detected() {
        let chunk = "<script type=\"text/plain\" class=\"statemap-chunk\">AQ==</script>";
        let tail =
            |chunks, rows| format!("{{\"chunks\":{chunks},\"sections\":[{{\"rows\":{rows}}}]}}");
        let whole = page(chunk, &tail(1, 3));
        let found = check(whole.as_bytes()).unwrap();
        assert_eq!((found.chunks, found.rows("tasks"), found.rows("workers")), (1, 3, 0));
        assert_eq!(found.notes(), ["n"]);
        for end in 0..whole.len() {
            assert!(check(&whole.as_bytes()[..end]).is_err(), "{end}");
        }
        for (chunks, tail) in [
            ("", tail(1, 3)),
            (chunk, tail(2, 3)),
            (chunk, tail(1, 2)),
            (chunk, "{\"chunks\":1}".to_owned()),
            (chunk, tail(1, 3).replace("1", "1,\"<\":1")),
            (&chunk.replace("AQ==", "AQ="), tail(1, 3)),
            (&chunk.replace("AQ==", ""), tail(1, 3)),
        ] {
            assert!(check(page(chunks, &tail).as_bytes()).is_err(), "{chunks} {tail}");
        }
        assert!(check(format!("{whole}{whole}").as_bytes()).is_err());
    }

    #[test]
    fn an_svg_begins_and_ends() {
        check_svg(b"<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n").unwrap();
        for svg in ["", "<svg>", "</svg>", "<svg></svg", "<svg></svg><"] {
            assert!(check_svg(svg.as_bytes()).is_err(), "{svg}");
        }
    }
}
