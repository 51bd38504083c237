//! Checks that a page or an SVG is complete.
//!
//! Like [`check`](crate::check), it shares no code with the library. The page's own tests check its columns.

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
    /// Returns the number of rows in the sections of `kind`.
    pub fn rows(&self, kind: &str) -> u64 {
        let sections = self.meta["sections"].as_array().into_iter().flatten();
        let tails = self.tail["sections"].as_array().into_iter().flatten();
        let of_kind = sections.zip(tails).filter(|(section, _)| section["kind"] == kind);
        of_kind.filter_map(|(_, tail)| tail["rows"].as_u64()).sum()
    }

    /// Returns the notes about what is missing.
    pub fn notes(&self) -> Vec<&str> {
        let notes = self.meta["notes"].as_array().into_iter().flatten();
        notes.filter_map(Value::as_str).collect()
    }
}

/// Checks a whole page.
///
/// # Errors
///
/// The first thing that is missing or unexpected.
pub fn check(bytes: &[u8]) -> Result<Page, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| format!("not UTF-8: {e}"))?;
    if !text.starts_with("<!doctype html>\n") {
        return Err("it doesn't begin as a page".to_owned());
    }
    if !text.ends_with("</html>\n") || text.matches("</html>").count() != 1 {
        return Err("it doesn't end as one page".to_owned());
    }
    let (meta, rest) = embedded_json(text, "statemap-meta")?;
    let (tail, _) = embedded_json(rest, "statemap-tail")?;
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
    if !meta["sums"].is_null() {
        sums(&meta)?;
    }
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

/// Checks the sums of a run of which only a part is kept in detail.
fn sums(meta: &Value) -> Result<(), String> {
    let sums = Sums::from_meta(meta).ok_or("its sums aren't whole numbers")?;
    let n = sums.polls.len();
    if !(1..=2000).contains(&n) {
        return Err(format!("there are {n} stretches"));
    }
    let columns = [&sums.held, &sums.longest, &sums.at, &sums.alive, &sums.stopped];
    if columns.iter().any(|column| column.len() != n) {
        return Err("the columns of its sums aren't equally long".to_owned());
    }
    let end = sums.from + sums.stretch * n as u64;
    // The length of a stretch is rounded, by up to 1 ns.
    if end + n as u64 <= sums.length {
        return Err(format!("its stretches end at {end} of {}", sums.length));
    }
    let mut kept_until = 0;
    for &(from, to) in &sums.dropped {
        if from < kept_until || to <= from || to > sums.length {
            return Err(format!("what was dropped isn't in order: {from} to {to}"));
        }
        kept_until = to;
        if !sums.gaps.contains(&(from, to)) {
            return Err(format!("what was dropped isn't a gap: {from} to {to}"));
        }
    }
    // A single stretch may exceed this: a poll whose end was recorded late counts up to that moment.
    if sums.held.iter().sum::<u64>() > (sums.stretch + 1) * sums.workers * n as u64 {
        return Err(format!(
            "its stretches were held for more than {} workers can be",
            sums.workers
        ));
    }
    for k in 0..n {
        let (polls, longest, at) = (sums.polls[k], sums.longest[k], sums.at[k]);
        if (polls == 0) != (at == 0) || at as usize > sums.places || (polls == 0 && longest > 0) {
            return Err(format!("stretch {k}: {polls} polls, the longest {longest} at {at}"));
        }
        if sums.stopped[k] > sums.stretch + 1 {
            return Err(format!("stretch {k} was stopped for {}", sums.stopped[k]));
        }
    }
    let sum = |column: &[u64]| column.iter().sum::<u64>();
    let (by_time, by_place) = (sum(&sums.polls), sum(&sums.polls_of_places));
    if by_time != by_place {
        return Err(format!("{by_time} polls in all stretches, {by_place} of all locations"));
    }
    let histograms = meta["sums"]["places"].as_array().into_iter().flatten();
    for (place, polls) in histograms.zip(&sums.polls_of_places) {
        let found = histogram(&place["lengths"], place["longest"].as_u64())?;
        if found != *polls {
            return Err(format!("a histogram of {found} of {polls} polls"));
        }
        histogram(&place["waits"], place["ready"].as_u64())?;
    }
    // Each value is rounded. Where a stretch is made of several there are more than a thousand, of 2000 at most.
    let (by_time, by_place) = (sum(&sums.held), sum(&sums.held_of_places));
    if by_time.abs_diff(by_place) > (2 * n + sums.places) as u64 {
        return Err(format!(
            "its {n} stretches held workers for {by_time}, its {} locations for {by_place}",
            sums.places
        ));
    }
    let sentences = meta["detail"].as_array().map_or(&[][..], Vec::as_slice);
    let begins =
        |sentence: &Value, with| sentence.as_str().is_some_and(|text| text.starts_with(with));
    match sentences {
        [kept, summed] if begins(kept, "In detail: ") && begins(summed, "In sums only: ") => Ok(()),
        other => Err(format!("it doesn't say what is kept in detail: {other:?}")),
    }
}

/// Checks a histogram and returns its number of values. Its edges must rise, and the last bin must have the largest value.
fn histogram(histogram: &Value, longest: Option<u64>) -> Result<u64, String> {
    if histogram.is_null() {
        return Ok(0);
    }
    let bins = histogram["bins"].as_array().into_iter().flatten();
    let bins: Option<Vec<(u64, u64)>> =
        bins.map(|bin| Some((bin[0].as_u64()?, bin[1].as_u64()?))).collect();
    let bins = bins.ok_or("a histogram isn't of whole numbers")?;
    // A decade has six edges: 10, 15, 22, 33, 47, 68.
    let is_edge = |edge: u64| {
        let digits = edge.to_string();
        let (first, zeros) = digits.split_at(digits.len().min(2));
        edge < 10 && [0, 1, 2, 3, 5, 7].contains(&edge)
            || ["10", "15", "22", "33", "47", "68"].contains(&first)
                && zeros.bytes().all(|digit| digit == b'0')
    };
    if bins.is_empty()
        || !bins.is_sorted_by(|a, b| a.0 < b.0)
        || bins.iter().any(|&(edge, n)| n == 0 || !is_edge(edge))
    {
        return Err(format!("the bins of a histogram are none: {bins:?}"));
    }
    let marks = ["p50", "p90", "p99"].map(|mark| histogram[mark].as_u64());
    let last = bins.last().map(|&(edge, _)| edge);
    if marks.contains(&None) || !marks.is_sorted() || marks[2] > longest || last > longest {
        return Err(format!("a histogram up to {longest:?} has {marks:?} and {last:?}"));
    }
    Ok(bins.iter().map(|&(_, n)| n).sum())
}

/// The sums of a run, by stretches of time and by spawn locations. Times are in ns from the left edge.
#[derive(Clone, Debug)]
pub struct Sums {
    /// The length of the page.
    pub length: u64,
    /// The start of the first stretch.
    pub from: u64,
    /// The length of a stretch.
    pub stretch: u64,
    /// The number of workers.
    pub workers: u64,
    /// The time for which polls held workers, by stretch.
    pub held: Vec<u64>,
    /// The number of polls that began, by stretch.
    pub polls: Vec<u64>,
    /// The length of the longest of these polls.
    pub longest: Vec<u64>,
    /// The spawn location of the task of that poll, counted from 1.
    pub at: Vec<u64>,
    /// The number of tasks that were alive at the end of the stretch.
    pub alive: Vec<u64>,
    /// The time for which recording was stopped.
    pub stopped: Vec<u64>,
    /// The ranges of which no detail is kept.
    pub dropped: Vec<(u64, u64)>,
    gaps: Vec<(u64, u64)>,
    places: usize,
    /// The number of polls of the tasks of each spawn location.
    pub polls_of_places: Vec<u64>,
    /// The time for which these polls held workers.
    pub held_of_places: Vec<u64>,
    /// The number of tasks of each spawn location.
    pub tasks_of_places: Vec<u64>,
}

impl Sums {
    /// Reads the sums of a page, or returns `None` if it has none, or something in them is no whole number.
    pub fn from_meta(meta: &Value) -> Option<Self> {
        let sums = &meta["sums"];
        let column = |key: &str| -> Option<Vec<u64>> {
            sums[key].as_array()?.iter().map(Value::as_u64).collect()
        };
        let ranges = |list: &Value| -> Option<Vec<(u64, u64)>> {
            let range = |range: &Value| Some((range[0].as_u64()?, range[1].as_u64()?));
            list.as_array()?.iter().map(range).collect()
        };
        let of_places = |key: &str| -> Option<Vec<u64>> {
            sums["places"].as_array()?.iter().map(|place| place[key].as_u64()).collect()
        };
        let polls = column("polls")?;
        Some(Self {
            length: meta["length"].as_u64()?,
            from: sums["from"].as_u64()?,
            stretch: sums["stretch"].as_u64()?,
            workers: sums["workers"].as_u64()?,
            held: column("held")?,
            longest: column("longest")?,
            at: column("at")?,
            alive: column("alive")?,
            stopped: if sums["stopped"].is_null() {
                vec![0; polls.len()]
            } else {
                column("stopped")?
            },
            dropped: ranges(&sums["dropped"])?,
            gaps: ranges(&meta["gaps"])?,
            places: sums["places"].as_array()?.len(),
            polls_of_places: of_places("polls")?,
            held_of_places: of_places("held")?,
            tasks_of_places: of_places("tasks")?,
            polls,
        })
    }
}

/// Returns the JSON in the element `id`, and the text after that element.
fn embedded_json<'a>(text: &'a str, id: &str) -> Result<(Value, &'a str), String> {
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
/// The part that is missing.
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
    fn sums_that_do_not_fit_are_detected() {
        let check_sums = |sums: &str| {
            let tail = "{\"chunks\":0,\"sections\":[{\"rows\":3}]}";
            let run = format!(
                "\"detail\":[\"In detail: a.\",\"In sums only: b.\"],\"length\":100,\"gaps\":[[10,90]],{sums},\
                 \"notes\""
            );
            check(page("", tail).replacen("\"notes\"", &run, 1).as_bytes())
        };
        let right = "\"sums\":{\"alive\":[1,0],\"at\":[1,0],\"dropped\":[[10,90]],\"from\":0,\
                     \"held\":[60,0],\"longest\":[7,0],\"places\":[{\"held\":60,\"lengths\":{\"bins\":[[1,4],[5,5]],\"p50\":5,\"p90\":6,\"p99\":7},\"longest\":7,\"polls\":9,\"tasks\":1}],\"polls\":[9,0],\
                     \"stopped\":null,\"stretch\":50,\"workers\":2}";
        check_sums(right).unwrap();
        assert!(check_sums("\"sums\":null").is_ok());
        for (what, wrong) in [
            ("[1,0],\"at\"", "[1],\"at\""),
            ("\"at\":[1,0]", "\"at\":[2,0]"),
            ("\"at\":[1,0]", "\"at\":[1,1]"),
            ("[[10,90]]", "[[20,90]]"),
            ("[[10,90]]", "[[90,10]]"),
            ("[60,0]", "[103,0]"),
            ("[60,0]", "[-1,0]"),
            ("\"stretch\":50", "\"stretch\":40"),
            ("\"polls\":[9,0]", "\"polls\":[0,0]"),
            ("null", "[60,0]"),
            ("\"polls\":9", "\"polls\":8"),
            ("\"held\":60", "\"held\":70"),
            ("[5,5]", "[5,4]"),
            ("[5,5]", "[6,5]"),
            ("[5,5]", "[0,5]"),
            ("[5,5]]", "[5,5],[10,0]]"),
            ("\"p99\":7", "\"p99\":8"),
            ("\"p99\":7", "\"p99\":5"),
            ("\"p50\":5", "\"p50\":null"),
            ("\"tasks\":1", "\"tasks\":null"),
        ] {
            let sums = right.replacen(what, wrong, 1);
            assert_ne!(sums, right);
            assert!(check_sums(&sums).is_err(), "{sums}");
        }
        assert!(check_sums(&right.replace("\"from\":0", "\"from\":\"0\"")).is_err());
    }

    #[test]
    fn an_svg_begins_and_ends() {
        check_svg(b"<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n").unwrap();
        for svg in ["", "<svg>", "</svg>", "<svg></svg", "<svg></svg><"] {
            assert!(check_svg(svg.as_bytes()).is_err(), "{svg}");
        }
    }
}
