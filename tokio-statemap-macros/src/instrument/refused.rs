//! The errors for what can't be instrumented.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Signature, Token, Visibility};

/// The error for something that isn't a function with a body, which is what `err` is about.
pub(super) fn error(tokens: &TokenStream, err: syn::Error) -> syn::Error {
    let parse = |input: ParseStream<'_>| {
        let found = by_head(input, err.clone());
        // All the rest of the item.
        input.parse::<TokenStream>()?;
        found
    };
    parse.parse2(tokens.clone()).unwrap_or_else(|err| err)
}

/// The error that the beginning of the item decides.
fn by_head(input: ParseStream<'_>, err: syn::Error) -> syn::Result<syn::Error> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    if let Ok(sig) = input.fork().parse::<Signature>() {
        input.parse::<Signature>()?;
        if !input.peek(Token![;]) {
            return Ok(err);
        }
        let msg = "`#[tokio_statemap::instrument]` needs a body: put it on the functions that implement \
                   this one.";
        return Ok(syn::Error::new_spanned(sig.ident, msg));
    }
    input.parse::<Option<Token![unsafe]>>()?;
    let msg = if input.peek(Token![impl]) {
        "`#[tokio_statemap::instrument]` isn't for a whole `impl`: put it on each async function in it."
    } else if input.peek(Token![trait]) {
        "`#[tokio_statemap::instrument]` isn't for a whole `trait`: put it on each async function that has \
         a body."
    } else {
        "`#[tokio_statemap::instrument]` is for async functions."
    };
    Ok(input.error(msg))
}

/// The error for a function that isn't `async`.
pub(super) fn not_async(sig: &Signature) -> syn::Error {
    let msg = "`#[tokio_statemap::instrument]` is for an `async fn`, or a function that ends in `async { … }` \
               or `Box::pin(async { … })`. If another attribute takes the `async` away, put this one above \
               it.";
    syn::Error::new_spanned(sig.fn_token, msg)
}
