//! Text stays text, whatever it contains.

use super::super::text::{display, fit, thousands, utc, width, wrap};
use super::super::{axis, colour, frame, sheet};
use super::xml::parse;
use super::*;
use crate::analysis::picture::why_tests::explained;
use crate::render::palette::Screen;
use crate::util::quantity::human;

const HOSTILE: [&str; 8] = [
    "]]></script><script>alert(1)</script>",
    "<!-- --> <![CDATA[ ]]> <?xml ?>",
    "\"' onload=\"alert(1)\" x='",
    "&amp;&#0;&lt;\\",
    "\u{202e}evil\u{2066}\u{200b}",
    "\0\u{1}\u{b}\u{1b}[31m\u{7f}\u{9b}\u{fffe}\u{ffff}",
    "}*{fill:url(https://example.com/)}",
    "</metadata></svg>\r\n\t<svg onload=alert(1)>",
];

#[test]
#[ignore = "slow"]
fn hostile_text_neither_runs_nor_breaks_anything() {
    for (i, text) in HOSTILE.iter().enumerate() {
        for repeat in [1, 400] {
            let text = text.repeat(repeat);
            let mut given = random_rows(&mut Random(i as u64 + 1), 20, 20, 100 * MS);
            given.rows.iter_mut().for_each(|row| row.0.clone_from(&text));
            given.description = Some(text.clone());
            let mut section = tasks(given, 3);
            section.title.clone_from(&text);
            section.groups.iter_mut().for_each(|group| group.label.clone_from(&text));
            for state in &mut section.states {
                state.name.clone_from(&text);
                state.colour = Some(text.clone());
            }
            let mut picture = picture(100 * MS, vec![section]);
            picture.title.clone_from(&text);
            picture.host = Some(text.clone());
            picture.runtime = Some(text.clone());
            picture.verdict = Some(crate::analysis::Statement::new(text.clone()));
            picture.notes = vec![text.clone(); 3];
            let mut svg = Vec::new();
            write(&picture, &mut svg).unwrap();
            assert!(svg.len() < 200_000, "{} bytes", svg.len());
            let svg = String::from_utf8(svg).unwrap();
            let elements = parse(&svg);
            let scripts: Vec<_> = elements.iter().filter(|e| e.name == "script").collect();
            assert_eq!(scripts.len(), 1);
            assert_eq!(scripts[0].text, format!("//\n{}//", frame::SCRIPT));
            for element in &elements {
                assert!(element.attributes.iter().all(|(name, _)| !name.starts_with("on")));
                assert!(!matches!(element.name.as_str(), "foreignObject" | "image" | "a" | "use"));
            }
            let styles: Vec<_> = elements.iter().filter(|e| e.name == "style").collect();
            assert_eq!(styles.len(), 1);
            assert!(!styles[0].text.contains("url("));
            assert!(!svg.contains('\u{202e}'));
        }
    }
}

#[test]
fn the_script_may_stand_in_cdata() {
    for text in [frame::SCRIPT, sheet::STYLE] {
        for ends in ["]]>", "</", "<!"] {
            assert!(!text.contains(ends), "{ends}");
        }
    }
    // Nothing is requested, and no text is parsed as markup.
    for word in ["innerHTML", "eval(", "fetch(", "XMLHttp", "http:", "https:", "import("] {
        let script = frame::SCRIPT.replace("http://www.w3.org/2000/svg", "");
        assert!(!script.contains(word), "{word}");
    }
}

#[test]
fn long_text_loses_its_middle() {
    assert_eq!(display("task-7", 6), "task-7");
    assert_eq!(display("some-runtime/task-7", 10), "som…task-7");
    assert_eq!(display("a\u{202e}b", 20), "a\\u{202e}b");
    assert_eq!(display(&"x".repeat(10_000), 200).chars().count(), 200);
    for max in 0..5 {
        assert!(display("abcdefgh", max).chars().count() <= max.max(1), "{max}");
    }
    let shown = fit("/home/user/src/index/hyper-0.1.10/src/server.rs:20:20", 11.0, 150.0);
    assert!(width(&shown, 11.0) <= 150.0 && shown.ends_with("20:20"), "{shown}");
}

#[test]
fn breaks_lines_at_spaces() {
    let text = "one two three four five six seven eight nine ten";
    for pixels in [60.0, 100.0, 200.0, 1000.0] {
        for lines in 1..6 {
            let wrapped = wrap(text, 12.0, pixels, lines);
            assert!(wrapped.len() <= lines);
            assert!(wrapped.iter().all(|line| width(line, 12.0) <= pixels), "{wrapped:?}");
        }
    }
    assert_eq!(wrap(text, 12.0, 1000.0, 3), [text]);
    assert_eq!(wrap(text, 12.0, 150.0, 9).join(" "), text);
    assert!(wrap("", 12.0, 100.0, 3).is_empty());
}

#[test]
fn numbers_are_readable() {
    assert_eq!(human(999), "999 ns");
    assert_eq!(human(999_600), "1.00 ms");
    assert_eq!(human(51_230_000), "51.2 ms");
    assert_eq!(thousands(1), "1");
    assert_eq!(thousands(1_234_567), "1\u{a0}234\u{a0}567");
    assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
    assert_eq!(utc(951_782_399), "2000-02-28 23:59:59 UTC");
    assert_eq!(utc(951_782_400), "2000-02-29 00:00:00 UTC");
    assert_eq!(utc(1_795_233_000), "2026-11-21 03:50:00 UTC");
}

#[test]
fn ticks_are_round() {
    assert_eq!(axis::step(4_000_000_000, 10), 500_000_000);
    assert_eq!(axis::step(0, 10), 1);
    assert_eq!(axis::label(500_000_000, 4_000_000_000, 500_000_000), "0.5 s");
    assert_eq!(axis::label(250 * MS, 300 * MS, 50 * MS), "250 ms");
    assert_eq!(axis::label(2, 9, 1), "2 ns");
    for length in [1, 7, 1_000, 123_456_789, u64::MAX / 2, u64::MAX] {
        let step = axis::step(length, 10);
        assert!(length / step <= 10 && (length < 10 || length / step >= 3), "{length}: {step}");
    }
}

#[test]
fn only_plain_colours_are_accepted() {
    let fill = |text: &str| {
        let state =
            RowState { name: String::new(), colour: Some(text.to_owned()), role: Role::Other };
        colour::fill(&state, 0, Screen::Light)
    };
    assert_eq!(fill("#DC267F"), "fill:#DC267F");
    assert_eq!(fill("rebeccapurple"), "fill:#508ff9;fill:rebeccapurple");
    assert_eq!(fill("rgb(1, 2, 3)"), "fill:#508ff9;fill:rgb(1, 2, 3)");
    for text in ["url(x)", "#12", "red;}*{fill:blue", "rgb(url(x))", "</style>", "", "rgb(1"] {
        assert_eq!(fill(text), "fill:#508ff9", "{text}");
    }
    // A state after the end is blank whatever its colour; a known one has the colour of the palette.
    let known = |role, screen| {
        let colour = Some("#648FFF".to_owned());
        colour::fill(&RowState { name: String::new(), colour, role }, 0, screen)
    };
    for screen in [Screen::Light, Screen::Dark, Screen::Forced] {
        assert_eq!(known(Role::Stopped, screen), "fill:none");
        assert_eq!(known(Role::Completed, screen), "fill:none");
    }
    assert_eq!(known(Role::Running, Screen::Light), "fill:#dc267f");
    assert_ne!(known(Role::Running, Screen::Dark), "fill:#dc267f");
    assert_eq!(known(Role::Running, Screen::Forced), "fill:Highlight");
}

#[test]
fn other_screens_have_colours_of_their_own() {
    let picture = picture(100 * MS, vec![tasks(random_rows(&mut Random(1), 9, 20, 100 * MS), 2)]);
    let mut svg = Vec::new();
    write(&picture, &mut svg).unwrap();
    let svg = String::from_utf8(svg).unwrap();
    let (style, _) = svg.split_once("</style>").unwrap();
    assert!(!style.contains("var(--"), "not all that shows an SVG knows variables");
    let (light, others) = style.split_once("@media (prefers-color-scheme:dark)").unwrap();
    let (dark, forced) = others.split_once("@media (forced-colors:active)").unwrap();
    assert!(light.contains(".c0 .s1{fill:#dc267f}") && light.contains(".paper { fill: #ffffff; }"));
    assert!(dark.contains(".paper{fill: #16161a}") && dark.contains(".c0 .s1{fill:#ff5aa0}"));
    assert!(forced.contains(".paper{fill: Canvas}") && forced.contains(".c0 .s1{fill:Highlight}"));
    // All braces of the sheets are closed.
    assert_eq!(style.matches('{').count(), style.matches('}').count());
}

#[test]
fn the_bar_is_at_the_poll_that_the_verdict_names() {
    for (function, shown) in [("shop::compute", "compute"), ("</svg>\u{202e}", "</svg>\\u{202e}")] {
        let (timeline, (_, start_ns)) = explained(function);
        let labels = crate::statemap::Labels { title: "why".to_owned(), host: None };
        let mut picture = Picture::of_timeline(&timeline, &labels);
        let said = |picture: &Picture<'_>| {
            let mut svg = Vec::new();
            write(picture, &mut svg).unwrap();
            let elements = parse(&String::from_utf8(svg).unwrap());
            let text = elements.into_iter().find(|it| it.text.starts_with("longest poll"));
            text.map(|element| element.text)
        };
        let text = said(&picture).expect("there is one");
        let at = human(start_ns - timeline.begin_ns);
        assert!(text.starts_with(&format!("longest poll of {shown}, src/a.rs:21: ")), "{text}");
        assert!(text.ends_with(&format!(" at {at}")), "{text}");
        // There is a longer poll, but none is blamed.
        for section in &mut picture.sections {
            section.why.iter_mut().for_each(|why| why.culprits.clear());
        }
        assert_eq!(said(&picture), None);
    }
}
