//! The output equals that of `serde_json` for the same value, byte for byte.

use serde_json::json;

use super::*;

#[test]
fn a_string_is_written_as_serde_json_does() {
    for c in (0..0x3000).chain(0xfe00..0x1_0100).filter_map(char::from_u32) {
        for text in [c.to_string(), format!("a{c}"), format!("{c}b"), format!("é{c}{c}\"")] {
            assert_eq!(string(&text), serde_json::to_string(&text).unwrap(), "{text:?}");
        }
    }
    assert_eq!(string(""), "\"\"");
}

#[test]
fn values_are_written_as_serde_json_does() {
    let fields = [
        ("array", &[1_u64, u64::MAX] as &dyn Json),
        ("empty", &Vec::<u32>::new()),
        ("key \"\n", &true),
        ("none", &None::<String>),
        ("object", &object(&[])),
        ("pair", &("a\\b".to_owned(), 7_usize)),
        ("some", &Some("x")),
        ("three", &(1_u32, false, Some(array(&["v"], |v| object(&[("k", v)]))))),
        ("tuples", &vec![(0_u64, "a", "b", "c")]),
    ];
    let value = json!({
        "array": [1, u64::MAX],
        "empty": [],
        "key \"\n": true,
        "none": null,
        "object": {},
        "pair": ["a\\b", 7],
        "some": "x",
        "three": [1, false, [{ "k": "v" }]],
        "tuples": [[0, "a", "b", "c"]],
    });
    assert_eq!(object(&fields).into_string(), value.to_string());
}

/// The data embedded in the page and the SVG.
#[cfg(all(feature = "html", feature = "svg"))]
#[test]
fn the_page_and_the_svg_embed_it_as_serde_json_writes_it() {
    let mut timeline = crate::analysis::picture::tests::timeline(30, 3);
    timeline.runtime = Some("<\u{1b}\"\\\u{2028}é".to_owned());
    let labels = crate::statemap::Labels { title: "a\tb".to_owned(), host: None };
    let picture = crate::analysis::picture::Picture::of_timeline(&timeline, &labels);
    let mut outputs = [Vec::new(), Vec::new()];
    crate::render::html::write(&picture, &mut outputs[0]).unwrap();
    crate::render::svg::write(&picture, &mut outputs[1]).unwrap();
    let texts = outputs.map(|output| String::from_utf8(output).unwrap());
    for (text, begin, end) in [
        (&texts[0], "id=\"statemap-meta\">", "</script>"),
        (&texts[0], "id=\"statemap-tail\">", "</script>"),
        (&texts[1], "<metadata id=\"data\">", "</metadata>"),
    ] {
        let (_, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no {begin}"));
        let (found, _) = rest.split_once(end).unwrap();
        let value: serde_json::Value = serde_json::from_str(&unescaped(found)).unwrap();
        assert_eq!(unescaped(found), value.to_string());
    }
}

/// Returns the JSON without the escapes that keep it from ending its element.
#[cfg(all(feature = "html", feature = "svg"))]
fn unescaped(text: &str) -> String {
    let escapes = [
        ("\\u003c", "<"),
        ("\\u003e", ">"),
        ("\\u0026", "&"),
        ("\\u2028", "\u{2028}"),
        ("\\u2029", "\u{2029}"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    escapes.iter().fold(text.to_owned(), |text, (escape, c)| text.replace(escape, c))
}
