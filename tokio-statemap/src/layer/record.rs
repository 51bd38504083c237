//! From the calls of a `tracing` registry to the recorder.

use std::fmt;
use std::sync::Arc;

use tracing_core::Subscriber;
use tracing_core::field::{Field, Visit};
use tracing_core::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::layer::SpanLayer;
use crate::recorder::hot::spans;
use crate::recorder::spans::{OpenSpan, entered, open};

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(ticks) = spans::now() else { return };
        let Some(span) = context.span(id) else { return };
        let metadata = attributes.metadata();
        let open = Arc::new(OpenSpan::new(metadata.name(), metadata.target(), ticks));
        bind(&open);
        if !self.fields.is_empty() {
            attributes.record(&mut Values { layer: self, span: &open });
        }
        span.extensions_mut().replace(open);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if self.fields.is_empty() {
            return;
        }
        let Some(span) = context.span(id) else { return };
        if let Some(open) = span.extensions().get::<Arc<OpenSpan>>() {
            values.record(&mut Values { layer: self, span: open });
        }
    }

    #[inline]
    fn on_enter(&self, id: &Id, _: Context<'_, S>) {
        if let Some(ticks) = spans::now() {
            entered::enter(id.into_u64(), ticks, spans::task());
        }
    }

    #[inline]
    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        let stint = entered::exit(id.into_u64(), spans::now);
        // Nothing is recorded, and nothing was.
        if stint.is_none() && spans::now().is_none() {
            return;
        }
        let find = || context.span(id)?.extensions().get::<Arc<OpenSpan>>().map(Arc::clone);
        open::with(id.into_u64(), find, |open| {
            if !open.is_bound() {
                bind(open);
            }
            open.add(stint);
        });
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        let open = span.extensions_mut().remove::<Arc<OpenSpan>>();
        if let Some(open) = open {
            open.close(spans::now());
        }
    }
}

/// Has the recorder of this thread count the span, if there is one.
fn bind(open: &OpenSpan) {
    if let Some((spans, window)) = spans::spans() {
        open.bind(&spans, window);
    }
}

/// Sets the selected fields of a span.
struct Values<'a> {
    layer: &'a SpanLayer,
    span: &'a OpenSpan,
}

impl Values<'_> {
    fn set(&mut self, field: &Field, value: &dyn fmt::Display) {
        let mut names = self.layer.fields.iter();
        if let Some(place) = names.position(|name| **name == *field.name()) {
            self.span.set(place, value.to_string());
        }
    }
}

impl Visit for Values<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, &value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, &format_args!("{value:?}"));
    }
}
