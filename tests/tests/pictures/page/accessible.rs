//! Accessibility of the page: axe-core finds no serious problems, everything works by keyboard, and the focus
//! is visible.

use std::fs;
use std::path::{Path, PathBuf};

use tests::browser::browser;
use tests::planted;

use super::{TARGET, explained, folder, labels, test, waiting, write};

/// Writes pages that use each of their tabs.
fn pages(name: &str) -> PathBuf {
    let folder = folder(name);
    write(&folder, "random.html", &planted::random(2_000, 3), &labels("random"));
    write(&folder, "waits.html", &waiting(), &labels("waits"));
    write(&folder, "why.html", &planted::blocked(), &labels("why"));
    let page = fs::read_to_string(folder.join("why.html")).unwrap();
    fs::write(folder.join("why.html"), explained(&page, |_| {})).unwrap();
    write(&folder, "empty.html", &planted::timeline(&[]), &labels("empty"));
    folder
}

#[test]
#[ignore = "slow: needs a browser"]
fn axe_finds_no_serious_problems() {
    let is_there = browser(Path::new(TARGET)).is_some_and(|browser| browser.has_axe());
    if is_there {
        pages("axe");
        test("axe", Path::new("browser/axe.test.mjs"));
    }
}

#[test]
#[ignore = "slow: needs a browser"]
fn everything_works_by_keyboard_and_the_focus_is_visible() {
    pages("keyboard");
    test("keyboard", Path::new("browser/keyboard.test.mjs"));
}
