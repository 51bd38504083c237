//! The page and the SVG, in a real browser.

mod page;
mod svg;
