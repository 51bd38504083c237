//! Accessibility of the page: axe-core finds no serious problems, everything works by keyboard, and the focus
//! is visible.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tests::browser::browser;
use tests::planted;

use super::{TARGET, explained, folder, joined, labels, test, waiting, write};

/// Writes pages that use each of their tabs.
fn pages(name: &str) -> PathBuf {
    let folder = folder(name);
    write(&folder, "random.html", &planted::random(2_000, 3), &labels("random"));
    write(&folder, "waits.html", &waiting(), &labels("waits"));
    write(&folder, "path.html", &joined(), &labels("path"));
    write(&folder, "why.html", &planted::blocked(), &labels("why"));
    let page = fs::read_to_string(folder.join("why.html")).unwrap();
    fs::write(folder.join("why.html"), explained(&page, add_requests)).unwrap();
    write(&folder, "empty.html", &planted::timeline(&[]), &labels("empty"));
    folder
}

/// Adds requests to what a page shows of tasks, so that their tab is there.
fn add_requests(meta: &mut Value) {
    let parts = json!({
        "causes": [["running", "shop::render_invoice at src/shop.rs:21", 40], ["waiting", "async shop::load at src/shop.rs:7", 50]],
        "elsewhere": 1, "length": 100, "ready": 5, "running": 40, "spans": 1, "unknown": 4, "waiting": 50,
    });
    let requests = json!({
        "cut": 1, "lost": 2, "open": 3,
        "rows": [{
            "count": 1, "name": "request GET /invoice", "own": 40, "parts": parts, "running": 40, "slowest": parts,
            "longest": [{ "isEarly": false, "parts": parts, "row": 1, "shown": [1000, 1100] }, { "isEarly": true, "parts": parts, "row": null, "shown": null }],
            "target": "shop", "times": [100, 100, 100, 100, 100], "total": 100,
        }],
    });
    let sections = meta["sections"].as_array_mut().unwrap();
    let tasks = sections.iter_mut().find(|section| section["kind"] == "tasks").unwrap();
    tasks["requests"] = requests;
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
