//! How the body takes the arguments of an `async fn`.
//!
//! A plain `async fn` drops its arguments from last to first when its body is over, the unused ones, too.
//! The body of an instrumented one is a future in it, which has to own all of them for that.
//!
//! It captures them, which needs no memory beyond theirs: captured variables are dropped in the order in
//! which they are first named. From the first argument on that this can't do for, they are variables of
//! the body, as they are in a plain `async fn`: those are dropped first.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, Pat, PatIdent, PatType, Receiver, Token};

use self::mentioned::Mentioned;
use crate::item::Item;

mod mentioned;

/// The arguments of a function.
pub(super) struct Arguments<'a> {
    receiver: Option<&'a Receiver>,
    typed: Vec<Argument<'a>>,
    /// How many of `typed` are captured.
    captured: usize,
}

/// An argument that isn't `self`.
struct Argument<'a> {
    input: &'a PatType,
    /// The variable that has it outside the body.
    outside: Ident,
    /// Whether the body has no use for its own variable.
    is_unused: bool,
}

impl<'a> Arguments<'a> {
    pub(super) fn of(item: &'a Item) -> Self {
        let mentioned = Mentioned::of(item.statements());
        let inputs = item.sig.inputs.iter();
        let inputs: Vec<&PatType> = inputs
            .filter_map(|input| match input {
                FnArg::Receiver(_) => None,
                FnArg::Typed(input) => Some(input),
            })
            .collect();
        let captured = inputs.iter().take_while(|input| can_be_captured(input, &mentioned)).count();
        let typed = inputs.into_iter().enumerate().map(|(at, input)| {
            let outside = match variable(input) {
                Some(variable) if at < captured && mentioned.has(&variable.ident) => {
                    variable.ident.clone()
                }
                // Its name stays, for the documentation. With hygiene of the macro's own, clippy doesn't
                // take what the macro does with it for a use.
                Some(variable) => {
                    let mut outside = variable.ident.clone();
                    outside.set_span(of_ours(input));
                    outside
                }
                None => format_ident!("__arg{at}", span = of_ours(input)),
            };
            let is_unused = variable(input).is_some_and(|variable| is_unused(variable, &mentioned));
            Argument { input, outside, is_unused }
        });
        Self { receiver: item.sig.receiver(), typed: typed.collect(), captured }
    }

    /// Those that have a name, and the variable that has each outside the body.
    pub(super) fn named(&self) -> Vec<(&'a Ident, &Ident)> {
        let named = self.typed.iter().filter_map(|Argument { input, outside, .. }| {
            variable(input).map(|found| (&found.ident, outside))
        });
        named.collect()
    }

    /// What the signature has: a variable for each, so that the body can own all of it.
    pub(super) fn inputs(&self) -> Punctuated<FnArg, Token![,]> {
        let receiver = self.receiver.map(|receiver| FnArg::Receiver(receiver.clone()));
        let typed = self.typed.iter().map(|Argument { input, outside, .. }| {
            let mut input = (*input).clone();
            // Lints are about the variables of the body.
            let decides =
                |attr: &Attribute| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr");
            input.attrs.retain(decides);
            input.pat = Box::new(Pat::Ident(PatIdent {
                attrs: Vec::new(),
                by_ref: None,
                mutability: None,
                ident: outside.clone(),
                subpat: None,
            }));
            FnArg::Typed(input)
        });
        receiver.into_iter().chain(typed).collect()
    }

    /// The beginning of the body.
    pub(super) fn taken(&self) -> TokenStream {
        let (captured, bound) = self.typed.split_at(self.captured);
        let mut taken = TokenStream::new();
        if self.receiver.is_some() || !captured.is_empty() {
            // To name a variable as a whole captures all of it, and not some of its fields.
            let last_to_first = captured.iter().rev().map(|argument| &argument.outside);
            let receiver = self.receiver.map(|receiver| receiver.self_token);
            let receiver = receiver.iter();
            taken.extend(quote_spanned! {Span::mixed_site()=>
                let _ = (#(&#last_to_first,)* #(&#receiver,)*);
            });
        }
        for Argument { input, outside, is_unused } in bound {
            let PatType { attrs, pat, .. } = input;
            let site = of_ours(input);
            if *is_unused || variable(input).is_none() {
                // A pattern may leave some of it where it is.
                taken.extend(quote_spanned! {site=> #(#attrs)* let #outside = #outside; });
            }
            if !is_unused {
                taken.extend(quote_spanned! {site=> #(#attrs)* let #pat = #outside; });
            }
        }
        taken
    }
}

/// The variable that all of an argument is moved to.
fn variable(input: &PatType) -> Option<&PatIdent> {
    match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat),
        _ => None,
    }
}

/// Whether an argument can be captured. Otherwise the body has to destructure it, its attributes have to be
/// about a statement, or rustc has to see that it is unused or mutable for nothing.
fn can_be_captured(input: &PatType, mentioned: &Mentioned) -> bool {
    variable(input).is_some_and(|variable| {
        (mentioned.has(&variable.ident) || is_unused(variable, mentioned))
            && variable.mutability.is_none()
            && input.attrs.is_empty()
    })
}

/// Whether a variable is unused, and says so by its name.
fn is_unused(variable: &PatIdent, mentioned: &Mentioned) -> bool {
    variable.ident.to_string().starts_with('_') && !mentioned.has(&variable.ident)
}

/// At the argument, with hygiene of the macro's own.
fn of_ours(input: &PatType) -> Span {
    Span::mixed_site().located_at(input.pat.span())
}
