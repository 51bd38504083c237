//! The `Settings` of a recording run: our keys, with `..` for what isn't given.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, ExprPath};

use crate::args::own::Report;
use crate::args::{Args, Kind};

/// `Settings { … }` for the function `name`.
pub(crate) fn settings(args: &Args, kind: Kind, name: &Ident) -> TokenStream {
    let private = quote! { ::tokio_statemap::__private };
    let own = &args.own;
    let mut fields = TokenStream::new();
    let mut field = |name: &str, value: Option<TokenStream>| {
        if let Some(value) = value {
            let name = Ident::new(name, Span::call_site());
            fields.extend(quote! { #name: #value, });
        }
    };
    let variant = |ty: &str, variant: &str| {
        let (ty, variant) = (call_site(ty), call_site(variant));
        quote! { #private::#ty::#variant }
    };

    field("tasks", own.tasks.as_ref().map(path).map(some));
    field("workers", own.workers.as_ref().map(path).map(some));
    field("html", own.html.as_ref().map(path).map(some));
    field("svg", own.svg.as_ref().map(path).map(some));
    field(
        "report",
        own.report.as_ref().map(|report| match report {
            Report::Stderr => variant("Report", "Stderr"),
            Report::Path(expr) => {
                let path = path(expr);
                quote! { #private::Report::Path(#path) }
            }
        }),
    );
    field("trace", own.trace.map(|name| variant("TraceTarget", name)));
    field("spawn_location", own.spawn_location.map(|value| quote! { #value }));
    field("buffer_capacity", own.buffer_capacity.map(|value| quote! { #value }));
    field("max_events", own.max_events.map(|value| quote! { #value }));
    field("keep", own.keep.map(|name| variant("Keep", name)));
    field("schedule_latency", own.schedule_latency.map(|value| quote! { #value }));
    field("long_poll", own.long_poll_ns.map(nanos));
    field("start_after", own.start_after_ns.map(nanos).map(some));
    field("duration", own.duration_ns.map(nanos).map(some));
    field("runtime", args.runtime.name.as_ref().map(|name| some(quote! { #name })));
    field("hooks", own.hooks.as_ref().map(hooks).map(some));

    let base = match kind {
        Kind::Main => quote! { main() },
        Kind::Test => {
            let name = name.unraw().to_string();
            quote! {
                test(::core::concat!(::core::module_path!(), "::", #name))
            }
        }
    };
    quote! {
        #private::Settings {
            #fields
            ..#private::Settings::#base
        }
    }
}

/// A call of the user's function that makes the hooks.
pub(crate) fn hooks(path: &ExprPath) -> TokenStream {
    let hooks = Ident::new("__hooks", Span::mixed_site());
    // With its type said, a function of another type is an error at the user's path.
    quote! {
        {
            let #hooks: fn() -> ::tokio_statemap::Hooks = #path;
            #hooks()
        }
    }
}

/// A path expression. The error for a type that is no path points at the expression.
fn path(expr: &Expr) -> TokenStream {
    let span = Span::mixed_site().located_at(expr.span());
    let into = quote_spanned! {span=>
        ::core::convert::Into::<::std::path::PathBuf>::into
    };
    quote! { #into(#expr) }
}

fn nanos(ns: u64) -> TokenStream {
    quote! { ::core::time::Duration::from_nanos(#ns) }
}

fn some(value: TokenStream) -> TokenStream {
    quote! { ::core::option::Option::Some(#value) }
}

fn call_site(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}
