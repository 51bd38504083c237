//! The expansion of `main` and `test`.
//!
//! It is the expansion of `#[tokio::main]` with the same spans, so that type errors point at the
//! same line and column, plus the code that records. The user's names are resolved in the user's
//! scope, all others through absolute paths and with the macro's own hygiene.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ReturnType, Signature, Type};

use crate::Features;
use crate::args::own::UserHooks;
use crate::args::runtime::Flavor;
use crate::args::{Args, Kind};
use crate::impl_trait;
use crate::item::Item;
use crate::recording;

/// Expands the attribute, for a library with `features`.
///
/// On an error, the result still contains a function next to the error, so that completions and
/// other features of an editor continue to work.
pub(crate) fn attribute(
    args: TokenStream,
    tokens: TokenStream,
    kind: Kind,
    features: Features,
) -> TokenStream {
    let item: Item = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(err) => return with_error(tokens, &err),
    };
    let args = match check(args, &item, kind, features) {
        Ok(args) => args,
        Err(err) => {
            let function = Expansion::new(&item, Args::after_error(), kind).plain();
            return with_error(function, &err);
        }
    };

    let changes_the_runtime = args.own.changes_the_runtime();
    // The module that `crate` names must contain Tokio's `runtime`, but not its attributes.
    let has_attribute = args.runtime.crate_path.is_none();
    let expansion = Expansion::new(&item, args, kind);
    if features.record {
        expansion.recording()
    } else if changes_the_runtime {
        expansion.by_hand()
    } else if has_attribute {
        expansion.tokio_attribute(&tokens)
    } else {
        expansion.plain()
    }
}

pub(crate) fn with_error(mut tokens: TokenStream, err: &syn::Error) -> TokenStream {
    tokens.extend(err.to_compile_error());
    tokens
}

/// Checks the attribute and its function. If several things are wrong, the error is the one that
/// `#[tokio::main]` would report.
fn check(args: TokenStream, item: &Item, kind: Kind, features: Features) -> syn::Result<Args> {
    match kind {
        Kind::Main => {
            if item.sig.ident == "main" && !item.sig.inputs.is_empty() {
                let msg = "the main function cannot accept arguments";
                return Err(syn::Error::new_spanned(&item.sig.ident, msg));
            }
        }
        Kind::Test => {
            if let Some(attr) = item.test_attr() {
                let msg = "second test attribute is supplied, consider removing or changing the \
                           order of your test attributes";
                return Err(syn::Error::new_spanned(attr, msg));
            }
        }
    }

    let metas = Args::split(args)?;
    if item.sig.asyncness.is_none() {
        let msg = "the `async` keyword is missing from the function declaration";
        return Err(syn::Error::new_spanned(item.sig.fn_token, msg));
    }
    Args::read(metas, kind, features)
}

/// The common parts of all forms of the expansion.
struct Expansion<'a> {
    item: &'a Item,
    args: Args,
    kind: Kind,
    /// The first token of the last statement. rustc points type mismatches at the last statement,
    /// and on stable Rust its span can only be composed from both ends.
    start: Span,
    /// The last token of the last statement.
    end: Span,
    /// The path of Tokio.
    tokio: TokenStream,
    /// The variable that holds the user's body.
    body: Ident,
    /// The variable that holds the runtime's builder.
    builder: Ident,
}

impl<'a> Expansion<'a> {
    fn new(item: &'a Item, args: Args, kind: Kind) -> Self {
        let mut last = item.last_statement().into_iter();
        let start = last.next().map_or_else(Span::call_site, |token| token.span());
        let end = last.last().map_or(start, |token| token.span());

        let tokio = match &args.runtime.crate_path {
            Some(path) => path.to_token_stream(),
            None => Ident::new("tokio", Span::call_site().located_at(start)).to_token_stream(),
        };
        Self {
            item,
            args,
            kind,
            start,
            end,
            tokio,
            body: Ident::new("body", Span::mixed_site()),
            builder: Ident::new("__builder", Span::mixed_site().located_at(start)),
        }
    }

    /// Returns the item under `#[tokio::main]` itself.
    fn tokio_attribute(&self, tokens: &TokenStream) -> TokenStream {
        let name = match self.kind {
            Kind::Main => quote! { main },
            Kind::Test => quote! { test },
        };
        let keys = &self.args.runtime_tokens;
        if keys.is_empty() {
            quote! { #[tokio::#name] #tokens }
        } else {
            quote! { #[tokio::#name(#keys)] #tokens }
        }
    }

    /// Returns the expansion of `#[tokio::main]`.
    fn plain(&self) -> TokenStream {
        let Self { start, end, body, .. } = self;
        let use_builder = self.use_builder();
        let new = self.new_builder();
        let keys = self.builder_keys();
        let build = self.build();

        let rt = quote_spanned! {*start=> #new #keys };
        self.function(
            self.body(),
            quote_spanned! {*end=>
                #use_builder

                return #rt
                    .enable_all()
                    .#build
                    .expect("Failed building the Runtime")
                    .block_on(#body);
            },
        )
    }

    /// Like [`plain`](Self::plain), with the user's `hooks` and `configure` applied.
    fn by_hand(&self) -> TokenStream {
        let Self { end, body, builder, .. } = self;
        let make_builder = self.make_builder();
        let hooks = self.args.own.hooks.as_ref().map(|path| {
            let hooks = UserHooks::call(path);
            quote! { ::tokio_statemap::Hooks::install(#hooks, &mut #builder); }
        });
        let configure = self.configure();
        let returned = self.returned_builder();
        let build = self.build();

        self.function(
            self.body(),
            quote_spanned! {*end=>
                #make_builder
                #hooks
                #configure
                return #returned
                    .#build
                    .expect("Failed building the Runtime")
                    .block_on(#body);
            },
        )
    }

    /// Like [`plain`](Self::plain), with the runtime recorded.
    fn recording(&self) -> TokenStream {
        let Self { end, builder, body, .. } = self;
        let site = Span::mixed_site();
        let recording = Ident::new("__recording", site);
        let root = Ident::new("__root", Span::mixed_site().located_at(*end));

        // The keys come first, so that the user's expressions see the function's arguments
        // before the body takes them, and none of the macro's variables.
        let with_keys = recording::recording(&self.args, self.kind, &self.item.sig.ident);
        let user_body = self.body();
        let before = quote! {
            let #recording = #with_keys;
            #user_body
        };

        let make_builder = self.make_builder();
        let start = quote_spanned! {site=>
            let #recording = #recording.start(&mut #builder).expect("the keys are valid");
        };
        let configure = self.configure();
        let wrap = {
            // `root` is `#[track_caller]`. Its call has the span of the function's name, so that
            // the name is the location of the root future.
            let at = self.item.sig.ident.span();
            let method = Ident::new("root", at);
            let mut arguments = Group::new(Delimiter::Parenthesis, body.to_token_stream());
            arguments.set_span(at);
            let arguments = TokenTree::from(arguments);
            quote! { let #root = #recording.#method #arguments; }
        };
        let returned = self.returned_builder();
        let build = self.build();

        // The recording is a variable and the runtime a temporary of the last expression, so the runtime
        // is dropped first and its end is recorded.
        self.function(
            before,
            quote_spanned! {*end=>
                #make_builder
                #start
                #configure
                #wrap
                return #returned
                    .#build
                    .expect("Failed building the Runtime")
                    .block_on(#root);
            },
        )
    }

    /// Returns the function with `before`, then `last` in a block.
    fn function(&self, before: TokenStream, last: TokenStream) -> TokenStream {
        let attrs = match self.kind {
            Kind::Main => TokenStream::new(),
            Kind::Test => quote! { #[::core::prelude::v1::test] },
        };
        // With the explicit `return`, rustc's error for a type mismatch is about the function's
        // return type.
        let block = quote_spanned! {self.end=>
            #[allow(clippy::expect_used, clippy::diverging_sub_expression, clippy::needless_return, clippy::unwrap_in_result)]
            {
                #last
            }
        };
        let sig = Signature { asyncness: None, ..self.item.sig.clone() };
        self.item.with(attrs, &sig, quote! { #before #block })
    }

    /// Returns the user's body as a future, with a check of its output type.
    fn body(&self) -> TokenStream {
        let Self { tokio, body, .. } = self;
        let block = self.item.body();
        let output = match &self.item.sig.output {
            ReturnType::Default => quote! { () },
            ReturnType::Type(_, ty) => ty.to_token_stream(),
        };

        if self.kind == Kind::Test {
            // A test binary has many tests. With one type for all their futures, `block_on` is
            // compiled once.
            return quote! {
                let #body = async #block;
                #tokio::pin!(#body);
                let #body: ::core::pin::Pin<&mut dyn ::core::future::Future<Output = #output>> = #body;
            };
        }

        let check = match &self.item.sig.output {
            // These types can't be written as the type of a variable.
            ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_)) || impl_trait::is_in(ty) => {
                TokenStream::new()
            }
            _ => quote! {
                if false {
                    let _: &dyn ::core::future::Future<Output = #output> = &#body;
                }
            },
        };
        quote! {
            let #body = async #block;
            let #body = {
                #check
                #body
            };
        }
    }

    fn use_builder(&self) -> TokenStream {
        let tokio = &self.tokio;
        quote_spanned! {Span::call_site().located_at(self.start)=>
            use #tokio::runtime::Builder;
        }
    }

    fn new_builder(&self) -> TokenStream {
        match self.args.runtime.flavor {
            Flavor::CurrentThread | Flavor::Local => quote_spanned! {self.start=>
                Builder::new_current_thread()
            },
            Flavor::MultiThread => quote_spanned! {self.start=>
                Builder::new_multi_thread()
            },
        }
    }

    /// Returns the calls that apply Tokio's keys, to append to a builder.
    fn builder_keys(&self) -> TokenStream {
        let Self { start, tokio, .. } = self;
        let keys = &self.args.runtime;
        let mut calls = TokenStream::new();
        if let Some(value) = keys.worker_threads {
            calls.extend(quote_spanned! {*start=> .worker_threads(#value) });
        }
        if let Some(value) = keys.start_paused {
            calls.extend(quote_spanned! {*start=> .start_paused(#value) });
        }
        if let Some(value) = keys.unhandled_panic {
            let variant = Ident::new(value.variant(), Span::call_site());
            let value = quote! { #tokio::runtime::UnhandledPanic::#variant };
            calls.extend(quote_spanned! {*start=> .unhandled_panic(#value) });
        }
        if let Some(value) = &keys.name {
            calls.extend(quote_spanned! {*start=> .name(#value) });
        }
        calls
    }

    fn build(&self) -> TokenStream {
        match self.args.runtime.flavor {
            Flavor::Local => quote_spanned! {self.start=> build_local(Default::default()) },
            Flavor::CurrentThread | Flavor::MultiThread => quote_spanned! {self.start=> build() },
        }
    }

    /// Returns the statement that creates the builder variable, with Tokio's keys applied.
    fn make_builder(&self) -> TokenStream {
        let Self { builder, .. } = self;
        let use_builder = self.use_builder();
        let new = self.new_builder();
        let keys = self.builder_keys();
        // The import has its own block, as `configure` may name the user's `Builder`.
        quote_spanned! {Span::mixed_site().located_at(self.start)=>
            let mut #builder = {
                #use_builder
                #new
            };
            #builder #keys .enable_all();
        }
    }

    /// Returns the builder as the first part of the returned expression.
    ///
    /// The parentheses have the last statement's span. If only one end of an expression has the
    /// macro's hygiene, errors point at the other end alone.
    fn returned_builder(&self) -> TokenTree {
        let mut group = Group::new(Delimiter::Parenthesis, self.builder.to_token_stream());
        group.set_span(self.start);
        TokenTree::from(group)
    }

    fn configure(&self) -> Option<TokenStream> {
        let path = self.args.own.configure.as_ref()?;
        let Self { builder, tokio, .. } = self;
        let configure = Ident::new("__configure", Span::mixed_site());
        // The explicit type makes an error about another type point at the user's path.
        Some(quote! {
            let #configure: fn(&mut #tokio::runtime::Builder) = #path;
            #configure(&mut #builder);
        })
    }
}

#[cfg(test)]
mod tests;
