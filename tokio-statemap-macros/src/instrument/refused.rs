//! The errors for items that can't be instrumented.

use proc_macro2::TokenStream;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Signature, Token, Visibility};

/// Returns the error for an item that isn't a function with a body. `err` is the parser's error.
pub(super) fn error(tokens: &TokenStream, err: syn::Error) -> syn::Error {
    let parse = |input: ParseStream<'_>| {
        let found = by_head(input, err.clone());
        // Consumes the rest of the item.
        input.parse::<TokenStream>()?;
        found
    };
    parse.parse2(tokens.clone()).unwrap_or_else(|err| err)
}

/// Returns the error that the beginning of the item calls for; `err` if it is a function with a body.
fn by_head(input: ParseStream<'_>, err: syn::Error) -> syn::Result<syn::Error> {
    input.call(Attribute::parse_outer)?;
    input.parse::<Visibility>()?;
    if let Ok(sig) = input.fork().parse::<Signature>() {
        input.parse::<Signature>()?;
        if !input.peek(Token![;]) {
            return Ok(err);
        }
        let msg = "`#[tokio_statemap::instrument]` requires a function body: apply it to the \
                   implementations of this function.";
        return Ok(syn::Error::new_spanned(sig.ident, msg));
    }
    input.parse::<Option<Token![unsafe]>>()?;
    let msg = if input.peek(Token![impl]) {
        "`#[tokio_statemap::instrument]` can't be applied to an `impl`: apply it to each async function in it."
    } else if input.peek(Token![trait]) {
        "`#[tokio_statemap::instrument]` can't be applied to a `trait`: apply it to each async function \
         that has a body."
    } else {
        "`#[tokio_statemap::instrument]` can only be applied to async functions."
    };
    Ok(input.error(msg))
}

/// Returns the error for a function that isn't `async`.
pub(super) fn not_async(sig: &Signature) -> syn::Error {
    let msg = "`#[tokio_statemap::instrument]` can only be applied to an `async fn` or a function that ends in \
               `async { … }` or `Box::pin(async { … })`. If another attribute removes the `async`, put this one \
               above it.";
    syn::Error::new_spanned(sig.fn_token, msg)
}
