//! Passes the arguments of an `async fn` to its body.
//!
//! A plain `async fn` drops its arguments, including unused ones, from last to first after its
//! body. The body of an instrumented function is an inner future, which has to own all of them for
//! that.
//!
//! The inner future captures the arguments, which needs no additional memory: captured variables
//! are dropped in the order in which they are first named. From the first argument that can't be
//! captured on, arguments become variables of the body, as in a plain `async fn`; those are dropped
//! first.

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
    /// The number of `typed` arguments that are captured.
    captured: usize,
}

/// An argument that isn't `self`.
struct Argument<'a> {
    input: &'a PatType,
    /// The variable that holds it outside the body.
    outside: Ident,
    /// `true` if the body doesn't use its variable.
    is_unused: bool,
}

impl<'a> Arguments<'a> {
    pub(super) fn from_item(item: &'a Item) -> Self {
        let mentioned = Mentioned::from_body(item.statements());
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
                // The name is kept for the documentation. With the macro's hygiene, clippy doesn't
                // count the macro's use of it.
                Some(variable) => {
                    let mut outside = variable.ident.clone();
                    outside.set_span(macro_span(input));
                    outside
                }
                None => format_ident!("__arg{at}", span = macro_span(input)),
            };
            let is_unused = variable(input).is_some_and(|variable| is_unused(variable, &mentioned));
            Argument { input, outside, is_unused }
        });
        Self { receiver: item.sig.receiver(), typed: typed.collect(), captured }
    }

    /// Returns the named arguments, each with the variable that holds it outside the body.
    pub(super) fn named(&self) -> Vec<(&'a Ident, &Ident)> {
        let named = self.typed.iter().filter_map(|Argument { input, outside, .. }| {
            variable(input).map(|found| (&found.ident, outside))
        });
        named.collect()
    }

    /// Returns the parameters of the signature, one variable each, so that the body can own them.
    pub(super) fn inputs(&self) -> Punctuated<FnArg, Token![,]> {
        let receiver = self.receiver.map(|receiver| FnArg::Receiver(receiver.clone()));
        let typed = self.typed.iter().map(|Argument { input, outside, .. }| {
            let mut input = (*input).clone();
            // Lints apply to the variables of the body.
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

    /// Returns the statements at the beginning of the body.
    pub(super) fn taken(&self) -> TokenStream {
        let (captured, bound) = self.typed.split_at(self.captured);
        let mut taken = TokenStream::new();
        if self.receiver.is_some() || !captured.is_empty() {
            // Naming a whole variable captures all of it, not only some of its fields.
            let last_to_first = captured.iter().rev().map(|argument| &argument.outside);
            let receiver = self.receiver.map(|receiver| receiver.self_token);
            let receiver = receiver.iter();
            taken.extend(quote_spanned! {Span::mixed_site()=>
                let _ = (#(&#last_to_first,)* #(&#receiver,)*);
            });
        }
        for Argument { input, outside, is_unused } in bound {
            let PatType { attrs, pat, .. } = input;
            let site = macro_span(input);
            if *is_unused || variable(input).is_none() {
                // A pattern may leave a part of it in place.
                taken.extend(quote_spanned! {site=> #(#attrs)* let #outside = #outside; });
            }
            if !is_unused {
                taken.extend(quote_spanned! {site=> #(#attrs)* let #pat = #outside; });
            }
        }
        taken
    }
}

/// Returns the variable that the whole argument is bound to.
fn variable(input: &PatType) -> Option<&PatIdent> {
    match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat),
        _ => None,
    }
}

/// Returns `true` if an argument can be captured. Otherwise the body has to destructure it, its
/// attributes apply to a statement, or rustc has to see that it is unused or needlessly mutable.
fn can_be_captured(input: &PatType, mentioned: &Mentioned) -> bool {
    variable(input).is_some_and(|variable| {
        (mentioned.has(&variable.ident) || is_unused(variable, mentioned))
            && variable.mutability.is_none()
            && input.attrs.is_empty()
    })
}

/// Returns `true` if a variable is unused and its name says so.
fn is_unused(variable: &PatIdent, mentioned: &Mentioned) -> bool {
    variable.ident.to_string().starts_with('_') && !mentioned.has(&variable.ident)
}

/// Returns the argument's span with the macro's hygiene.
fn macro_span(input: &PatType) -> Span {
    Span::mixed_site().located_at(input.pat.span())
}
