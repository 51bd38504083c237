//! The text format of OpenMetrics.

/// The type of a family of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// The text so far.
pub(super) struct Text {
    text: String,
    /// The name of the family that samples are added to.
    family: String,
}

impl Text {
    pub(super) fn new() -> Self {
        Self { text: String::new(), family: String::new() }
    }

    /// Begins a family of metrics. `help` has nothing to escape.
    pub(super) fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        self.family = format!("tokio_statemap_{name}");
        self.text += &format!("# HELP {0} {help}\n# TYPE {0} {kind}\n", self.family);
    }

    /// Adds a sample, whose name is that of the family and `suffix`.
    pub(super) fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: &str) {
        self.text += &self.family;
        self.text += suffix;
        let mut before = '{';
        for (name, label) in labels {
            self.text.push(before);
            self.text += &format!("{name}=\"{}\"", escaped(label));
            before = ',';
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        self.text.push(' ');
        self.text += value;
        self.text.push('\n');
    }

    /// Returns the whole text.
    pub(super) fn end(mut self) -> String {
        // The older format takes this line as a comment.
        self.text += "# EOF\n";
        self.text
    }
}

/// Returns a label's value as it stands between quotes.
pub(super) fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns ns in seconds, exactly: `1.5` or `0.000000001`.
pub(super) fn seconds(ns: u64) -> String {
    const SECOND: u64 = 1_000_000_000;
    let text = format!("{}.{:09}", ns / SECOND, ns % SECOND);
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}
