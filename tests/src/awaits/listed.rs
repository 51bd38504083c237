//! What `tokio-statemap awaits` lists.

use super::{Kind, Point};

/// An async fn, block or closure.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What it is.
    pub kind: Kind,
    /// Its path.
    pub path: String,
    /// Its file.
    pub file: String,
    /// The line that it begins in.
    pub line: usize,
    /// Its own suspend points: the place, and what is awaited.
    pub awaits: Vec<(String, String)>,
}

impl Listed {
    /// Its suspend points.
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

/// All that the text lists.
///
/// # Panics
///
/// If a line isn't understood.
pub fn listed(text: &str) -> Vec<Listed> {
    let mut all: Vec<Listed> = Vec::new();
    for line in text.lines() {
        let point = line.strip_prefix("├─ ").or_else(|| line.strip_prefix("└─ "));
        if let Some(point) = point {
            let (place, name) = point.split_once("  ").expect("a place");
            let last = all.last_mut().expect("it is of one");
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
