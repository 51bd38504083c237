//! The promises of the palette, computed from it.

mod vision;

use super::*;
use vision::{Eyes, apart, chroma, contrast, greyscale};

const SCREENS: [Screen; 2] = [Screen::Light, Screen::Dark];

/// The states that are adjacent: in a task's lane and its group's stack, in a worker's lane, and in that of a
/// thread of the blocking pool. What ran on such a thread is drawn over its own states.
const SIDE_BY_SIDE: [&[Colour]; 3] =
    [&[WAITING, RUNNING, READY, SPAWNED], &[PARKED, RUNNING, AWAKE], &[BLOCKING, RUNNING]];

/// Text and its backgrounds.
const TEXT: [(&str, &[&str]); 9] = [
    (
        "ink",
        &[
            "paper",
            "raised",
            "sunk",
            "accent-soft",
            "chosen",
            "summed",
            "dependency",
            "std",
            "system",
            "blocked",
        ],
    ),
    ("quiet", &["paper", "raised", "sunk", "accent-soft", "chosen", "summed"]),
    ("faint", &["paper", "raised", "sunk", "accent-soft", "chosen"]),
    ("accent", &["paper", "raised", "sunk", "accent-soft", "chosen"]),
    ("warn-ink", &["warn-soft"]),
    ("focus", &["paper", "raised", "sunk", "accent-soft"]),
    ("link", &["paper", "raised", "sunk", "accent-soft"]),
    ("on-own", &["own"]),
    // Inverted labels.
    ("paper", &["ink", "focus"]),
];

/// Shapes that must be visible, and their backgrounds.
const SHAPES: [(&str, &[&str]); 12] = [
    ("focus", &["paper", "raised", "sunk", "summed"]),
    ("accent", &["paper"]),
    ("mark", &["paper"]),
    ("select", &["paper"]),
    ("summed-bar", &["summed", "paper"]),
    ("own", &["paper"]),
    ("taken", &["paper"]),
    ("cause-blocked", &["paper"]),
    ("faint", &["paper"]),
    ("bar-held", &["paper", "sunk"]),
    ("bar-ready", &["paper", "sunk"]),
    ("disabled", &["paper"]),
];

fn on(colour: &Colour, screen: Screen) -> Rgb {
    match screen {
        Screen::Light | Screen::Forced => colour.light,
        Screen::Dark => colour.dark,
    }
}

fn named(name: &str, screen: Screen) -> Rgb {
    let found = all().into_iter().find(|colour| colour.name == name);
    on(&found.unwrap_or_else(|| panic!("there is no {name}")), screen)
}

fn pairs(colours: &[Colour]) -> impl Iterator<Item = (&Colour, &Colour)> {
    colours.iter().enumerate().flat_map(|(n, a)| colours[n + 1..].iter().map(move |b| (a, b)))
}

#[test]
fn states_have_contrast_with_the_paper() {
    for screen in SCREENS {
        let paper = named("paper", screen);
        for colour in STATES.iter().chain(&OTHERS).chain(&LINES) {
            let found = contrast(on(colour, screen), paper);
            assert!(found >= 3.0, "{} on {screen:?}: {found:.2}", colour.name);
        }
    }
}

#[test]
fn adjacent_states_are_distinguishable_by_all_eyes() {
    for screen in SCREENS {
        for (a, b) in SIDE_BY_SIDE.iter().flat_map(|states| pairs(states)) {
            let (one, other) = (on(a, screen), on(b, screen));
            for eyes in Eyes::EACH {
                let found = apart(one, other, eyes);
                assert!(found >= 0.08, "{} {} {screen:?} {eyes:?}: {found:.3}", a.name, b.name);
            }
            let found = (greyscale(one) - greyscale(other)).abs();
            assert!(found >= 9.0, "{} {} {screen:?} in grey: {found:.1}", a.name, b.name);
        }
    }
}

#[test]
fn running_is_the_most_conspicuous_state_and_waiting_the_least() {
    for screen in SCREENS {
        let paper = named("paper", screen);
        let running = chroma(on(&RUNNING, screen));
        for colour in STATES.iter().filter(|colour| **colour != RUNNING) {
            let found = chroma(on(colour, screen));
            assert!(found * 1.2 < running, "{} on {screen:?}: {found:.3}", colour.name);
        }
        for calm in [WAITING, PARKED, BLOCKING] {
            let found = contrast(on(&calm, screen), paper);
            assert!(found < 3.2, "{} on {screen:?}: {found:.2}", calm.name);
            assert!(chroma(on(&calm, screen)) < 0.06, "{} on {screen:?}", calm.name);
        }
    }
}

/// Many colours can't all be far apart for all eyes, so less is required of them, but more of the first four.
#[test]
fn the_many_colours_are_distinguishable() {
    for screen in SCREENS {
        for (colours, known) in [(&LINES[..], &[RUNNING, READY, SPAWNED][..]), (&OTHERS, &[])] {
            for (n, a) in colours.iter().enumerate() {
                for b in known.iter().chain(&colours[..n]) {
                    let least = if n < 4 { 0.08 } else { 0.06 };
                    let (one, other) = (on(a, screen), on(b, screen));
                    for eyes in Eyes::EACH {
                        let found = apart(one, other, eyes);
                        assert!(
                            found >= least,
                            "{} {} {screen:?} {eyes:?}: {found:.3}",
                            a.name,
                            b.name
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn text_is_readable_on_its_backgrounds() {
    for screen in SCREENS {
        for (text, grounds) in TEXT {
            for ground in grounds {
                let found = contrast(named(text, screen), named(ground, screen));
                assert!(found >= 4.5, "{text} on {ground}, {screen:?}: {found:.2}");
            }
        }
        // Text on a state is black or white.
        for colour in all() {
            let ground = on(&colour, screen);
            let best = contrast(ground, Rgb(0)).max(contrast(ground, Rgb(0xff_ffff)));
            assert!(best >= 4.5, "{}: {best:.2}", colour.name);
        }
    }
}

#[test]
fn shapes_are_visible_on_their_backgrounds() {
    for screen in SCREENS {
        for (shape, grounds) in SHAPES {
            for ground in grounds {
                let found = contrast(named(shape, screen), named(ground, screen));
                assert!(found >= 3.0, "{shape} on {ground}, {screen:?}: {found:.2}");
            }
        }
    }
}

/// A report is printed on terminals of both kinds, and the kind can't be detected.
#[test]
fn running_is_readable_on_black_and_on_white() {
    for ground in [Rgb(0), Rgb(0xff_ffff)] {
        assert!(contrast(RUNNING.light, ground) >= 4.5);
    }
}

#[test]
fn names_are_valid_for_variables() {
    let mut names: Vec<_> = all().into_iter().map(|colour| colour.name).collect();
    names.sort_unstable();
    let n = names.len();
    names.dedup();
    assert_eq!(names.len(), n);
    assert!(names.iter().all(|name| {
        name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b.is_ascii_digit())
    }));
}

#[test]
fn rules_are_filled_in_for_viewers_without_variables() {
    let rules = "a { fill: var(--ink); x: 1 }\n.b:hover > c { stroke: var(--paper); width: 2 }\nd { y: 3 }\n";
    assert_eq!(
        fill(rules, Screen::Light),
        "a { fill: #1b1b1f; x: 1 }\n.b:hover > c { stroke: #ffffff; width: 2 }\nd { y: 3 }\n"
    );
    assert_eq!(fill_again(rules, Screen::Dark), "a{fill: #ececf1}.b:hover > c{stroke: #16161a}");
    assert_eq!(
        fill_again(rules, Screen::Forced),
        "a{fill: CanvasText}.b:hover > c{stroke: Canvas}"
    );
    // Unknown names stay.
    assert_eq!(fill("var(--no-such) var(--", Screen::Light), "var(--no-such) var(--");
}

/// The style sheets of the page have no colours of their own, and each colour that they name is in the
/// palette.
#[cfg(feature = "html")]
#[test]
fn the_page_has_only_colours_of_the_palette() {
    holds_no_colour(
        include_str!("../html/page/style.css"),
        &["--gutter", "--bar", "--mono", "--panel", "--row-light"],
    );
    let properties = properties();
    // In the order of a browser: light, dark, forced.
    let blocks: Vec<_> = properties.split(" {\n").skip(1).collect();
    assert_eq!(blocks.len(), 3);
    for colour in all() {
        let declared = |block: &str, value: &str| {
            block.lines().any(|line| line.trim() == format!("--{}: {value};", colour.name))
        };
        assert!(declared(blocks[0], &colour.light.to_string()), "{}", colour.name);
        assert!(declared(blocks[1], &colour.dark.to_string()), "{}", colour.name);
        assert!(colour.forced.is_none_or(|forced| declared(blocks[2], forced)), "{}", colour.name);
    }
}

#[test]
fn the_svg_has_only_colours_of_the_palette() {
    holds_no_colour(include_str!("../svg/style.css"), &["--dimming"]);
}

/// Asserts that all colours of `style` are variables, and all variables are colours or `others`.
fn holds_no_colour(style: &str, others: &[&str]) {
    let mut bare = style.to_owned();
    // Shadows darken their background.
    for shadow in ["0.2)", "0.22)", "0.35)"] {
        bare = bare.replace(&format!("rgba(0, 0, 0, {shadow}"), "");
    }
    for rule in bare.split('}') {
        let declarations = rule.rsplit('{').next().unwrap_or_default();
        for declaration in declarations.split(';') {
            let Some((name, value)) = declaration.split_once(':') else { continue };
            assert!(!value.contains('#') || value.contains("url"), "{declaration}");
            for function in ["rgb(", "rgba(", "hsl(", "oklch("] {
                assert!(!value.contains(function), "{declaration}");
            }
            let words = value.split(|c: char| !c.is_ascii_alphabetic() && c != '-');
            let named = ["white", "black", "red", "blue", "gray", "grey", "green", "orange"];
            for word in words {
                assert!(!named.contains(&word), "{}: {value}", name.trim());
            }
        }
    }
    for (at, _) in style.match_indices("var(") {
        let name = style[at + 4..].split([')', ',']).next().unwrap_or_default();
        let is_known = all().into_iter().any(|colour| name.strip_prefix("--") == Some(colour.name));
        // The style sheet may set a variable itself, to one of the palette.
        let is_declared = style.contains(&format!(" {name}: var("));
        assert!(is_known || is_declared || others.contains(&name), "{name} isn't in the palette");
    }
}
