//! The await trees of async functions, as text and as a page.

mod html;
mod text;

pub use html::write as write_html;
pub use text::write as write_text;
