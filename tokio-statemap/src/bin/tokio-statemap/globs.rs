//! Patterns of source files, such as `src/**`.

use globset::{GlobBuilder, GlobMatcher};
use tokio_statemap::__private::FileOf;

/// A pattern of source files.
#[derive(Clone, Debug)]
pub(crate) struct Glob {
    text: String,
    matcher: GlobMatcher,
}

impl Glob {
    /// Compiles a pattern. `*` matches within a folder, `**` across folders.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let pattern = text.strip_prefix("./").unwrap_or(text);
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        let matcher = glob.map_err(|error| error.kind().to_string())?.compile_matcher();
        Ok(Self { text: text.to_owned(), matcher })
    }

    /// Returns the pattern as it was given.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns `true` if the path of a source file matches. For the program's own files it is enough that an end of the
    /// path matches, because its beginning depends on where the program was built.
    pub(crate) fn matches(&self, path: &str, of: FileOf) -> bool {
        let path = path.replace('\\', "/");
        let folders = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
        let ends = folders.filter(|_| of == FileOf::Program);
        [&*path].into_iter().chain(ends).any(|path| self.matcher.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_of_the_program_unless_it_names_a_package() {
        for (pattern, path, of, expected) in [
            ("src/**", "src/main.rs", FileOf::Program, true),
            ("./src/**", "src/orders/paid.rs", FileOf::Program, true),
            ("src/**", "/home/me/shop/src/main.rs", FileOf::Program, true),
            ("src/**", "crates/orders/src/lib.rs", FileOf::Program, true),
            ("crates/orders/**", "/home/me/shop/crates/orders/src/lib.rs", FileOf::Program, true),
            ("src/*.rs", "src/orders/paid.rs", FileOf::Program, false),
            ("rc/**", "src/main.rs", FileOf::Program, false),
            ("src/**", "axum-0.8.9/src/serve/mod.rs", FileOf::Dependency, false),
            ("axum-*/**", "axum-0.8.9/src/serve/mod.rs", FileOf::Dependency, true),
            ("src/{orders,users}/**", "src/users/new.rs", FileOf::Program, true),
            ("src\\main.rs", "src/main.rs", FileOf::Program, cfg!(windows)),
            ("src/**", "src\\main.rs", FileOf::Program, true),
        ] {
            let glob = Glob::new(pattern).expect("it is one");
            assert_eq!(glob.matches(path, of), expected, "{pattern}, {path}");
        }
        assert!(Glob::new("src/[").is_err() && Glob::new("src/{a").is_err());
    }
}
