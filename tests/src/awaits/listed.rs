//! Reads the list that `tokio-statemap awaits` prints.

use super::{Kind, Point};

/// An async fn, block or closure in the list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The kind of item.
    pub kind: Kind,
    /// The path of the function.
    pub path: String,
    /// The source file.
    pub file: String,
    /// The line that it begins in.
    pub line: usize,
    /// The suspend points in its own body: the place, and the name of the awaited future.
    pub awaits: Vec<(String, String)>,
}

impl Listed {
    /// Returns the suspend points in the form in which the source has them.
    pub fn points(&self) -> Vec<Point> {
        let point = |(place, name): &(String, String)| match place.rsplit_once(':') {
            Some((file, line)) if file == self.file && !is_macro(name) => {
                Point::Line(line.parse().expect("a line"))
            }
            _ => Point::Macro(name.split('!').next().unwrap_or_default().to_owned()),
        };
        self.awaits.iter().map(point).collect()
    }
}

fn is_macro(name: &str) -> bool {
    name.split(':').next().is_some_and(|first| ["tokio", "futures"].contains(&first))
        && name.split(' ').next().is_some_and(|name| name.trim_end_matches(':').ends_with('!'))
}

/// Parses the output of the command.
///
/// # Panics
///
/// If a line isn't in the expected form.
pub fn listed(text: &str) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    for line in text.lines() {
        let point = line.strip_prefix("├─ ").or_else(|| line.strip_prefix("└─ "));
        if let Some(point) = point {
            let (place, name) = point.split_once("  ").expect("a place");
            let last = all.last_mut().expect("it follows an async item");
            last.awaits.push((place.to_owned(), name.to_owned()));
        } else if let Some(rest) = line.strip_prefix("async ") {
            let (kind, rest) =
                [("fn ", Kind::Fn), ("block in ", Kind::Block), ("closure in ", Kind::Closure)]
                    .into_iter()
                    .find_map(|(word, kind)| Some((kind, rest.strip_prefix(word)?)))
                    .expect("its kind");
            let (path, place) = rest.rsplit_once(" (").expect("its place");
            let (file, at) = place.trim_end_matches(')').rsplit_once(':').expect("a line");
            all.push(Listed {
                kind,
                path: path.to_owned(),
                file: file.to_owned(),
                line: at.parse().expect("a line"),
                awaits: Vec::new(),
            });
        }
    }
    all
}
