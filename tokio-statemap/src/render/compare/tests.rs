//! The text fits 80 columns and begins with the changes, as the page does.

use super::{Comparison, compare};
use crate::analysis::compare::tests::{program, run};

fn slower() -> Comparison {
    let mut planted = program();
    planted[1].slower = 2.0;
    compare(&[&run(&program(), 1, 1.0)], &[&run(&planted, 2, 1.3)])
}

#[test]
fn the_text_begins_with_what_changed() {
    let comparison = slower();
    let text = comparison.to_string();
    let verdict = comparison.verdict();
    assert!(
        verdict.starts_with("1 line took longer by more than chance: src/main.rs:20:5"),
        "{text}"
    );
    assert!(text.starts_with(verdict.split(", ").next().expect("a part")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(text.matches("src/main.rs:20:5").count(), 2, "{text}");
    // Each of the others has a line.
    for line in [10, 30, 40, 50, 60] {
        assert_eq!(text.matches(&format!("src/main.rs:{line}:5")).count(), 1, "{text}");
    }
}

/// Uses an independent JSON parser.
#[cfg(feature = "read")]
#[test]
fn the_json_agrees_with_the_text() {
    let comparison = slower();
    let json: serde_json::Value = serde_json::from_str(&super::json(&comparison)).expect("JSON");
    assert_eq!(json["verdict"], comparison.verdict());
    assert_eq!(json["hasChanges"], true);
    assert_eq!(json["lines"].as_array().map(Vec::len), Some(6));
    let first = &json["lines"][0];
    assert_eq!(first["spawnedAt"], "src/main.rs:20:5");
    assert_eq!(first["polls"]["change"], "longer");
    let factor = first["polls"]["factor"].as_f64().expect("a number");
    let p50 = |side: &str| first[side]["p50Ns"].as_f64().expect("a number");
    let ratio = p50("after") / p50("before");
    assert!((ratio / factor - 1.0).abs() < 0.2, "{first}");
    assert_eq!(json["lines"][5]["polls"]["change"], "same");
}
