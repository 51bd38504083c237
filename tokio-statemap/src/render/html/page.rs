//! The parts of the page that are the same for all data.

use miniz_oxide::inflate::decompress_to_vec;

use crate::render::palette;

/// The script and the style, as the build script (`build.rs`) packs them: they are half a megabyte.
const SCRIPT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/script.js.deflate"));
const STYLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/style.css.deflate"));
const BODY: &str = include_str!("page/body.html");
/// The SHA-256 of the script and of the style sheet in base64, one per line. A test compares them.
const HASHES: &str = include_str!("page/hashes.txt");

/// Returns the script of the page: all modules in one, without comments, and without their imports and exports.
pub(super) fn script() -> String {
    unpacked(SCRIPT)
}

/// Returns the style sheet of the page: the colours of the palette, and the rules.
pub(super) fn style() -> String {
    palette::properties() + &unpacked(STYLE)
}

fn unpacked(packed: &[u8]) -> String {
    let unpacked = decompress_to_vec(packed).expect("the build script packed it");
    String::from_utf8(unpacked).expect("the build script packed text")
}

/// Returns the body of the page, up to the data.
pub(super) fn body(title: &str, answer: &str) -> String {
    let (begin, rest) = BODY.split_once("{{title}}").expect("the body has a title");
    let (middle, end) = rest.split_once("{{answer}}").expect("the body has an answer");
    format!("{begin}{title}{middle}{answer}{end}")
}

/// Returns the content security policy: this script and this style sheet, and nothing from elsewhere.
pub(super) fn policy() -> String {
    let mut hashes = HASHES.lines();
    let script = hashes.next().unwrap_or_default();
    let style = hashes.next().unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; \
         img-src data:; base-uri 'none'; form-action 'none'"
    )
}
