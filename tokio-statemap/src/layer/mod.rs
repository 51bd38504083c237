//! The layer for spans of `tracing`.

#[cfg(feature = "record")]
mod record;
#[cfg(all(test, feature = "record", tokio_unstable))]
mod tests;

use std::sync::Arc;

#[cfg(not(feature = "record"))]
use tracing_core::Subscriber;
#[cfg(not(feature = "record"))]
use tracing_subscriber::{Layer, registry::LookupSpan};

/// Returns a layer for a `tracing_subscriber` registry. With it, spans of `tracing` become the table *requests* of the
/// report and the page: how often and how long each kind of span ran, and what it did in that time.
///
/// It takes every span that it is given: those of `#[tracing::instrument]`, and those of crates such as tower-http, tonic,
/// and sqlx. Spans with the same name, target, and values of the selected [fields](SpanLayer::fields) are one row. A span
/// counts if it opened and closed in one recording window, and was used on a thread of a recorded runtime. While
/// nothing is recorded, and in a build without the feature `record`, the layer does nothing.
///
/// An enter and exit of a span takes some 60 ns together, besides what the registry takes. To leave out spans that you don't
/// want to see, use `with_filter` of `tracing_subscriber::Layer`.
///
/// # Examples
///
#[cfg_attr(feature = "record", doc = "```no_run")]
#[cfg_attr(not(feature = "record"), doc = "```ignore")]
/// use tracing_subscriber::layer::SubscriberExt;
/// use tracing_subscriber::util::SubscriberInitExt;
///
/// #[tokio_statemap::main]
/// async fn main() {
///     tracing_subscriber::registry()
///         .with(tokio_statemap::layer().fields("method, http.route"))
///         .init();
///     /* … */
/// }
/// ```
pub fn layer() -> SpanLayer {
    SpanLayer { fields: Arc::default() }
}

/// The layer that [`layer`] returns.
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing unless it is added to a registry"]
pub struct SpanLayer {
    /// The names of the selected fields.
    #[cfg_attr(not(feature = "record"), allow(dead_code, reason = "nothing is recorded"))]
    fields: Arc<[Box<str>]>,
}

impl SpanLayer {
    /// Selects fields, by their names with commas in between. Spans with different values of these fields become
    /// different rows, with the values in the order in which the fields are selected.
    ///
    /// Select fields with few values, such as the route, and not the path: the first 1000 rows are told apart, and the
    /// spans beyond become the row *(others)*. A field may be recorded any time before the span closes. The first
    /// 100 bytes of a value count.
    ///
    /// # Examples
    ///
    /// ```
    /// let layer = tokio_statemap::layer().fields("otel.name, http.response.status_code");
    /// # let _ = layer;
    /// ```
    pub fn fields(mut self, names: &str) -> Self {
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        self.fields = names.map(Box::from).collect();
        self
    }
}

/// It does nothing in a build without the feature `record`.
#[cfg(not(feature = "record"))]
impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanLayer {}
