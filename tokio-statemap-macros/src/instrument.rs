//! `#[tokio_statemap::instrument]`.
//!
//! The body of the function becomes a future that is polled through a wrapper, which knows the function.
//! All else stays what it was: the signature, what is `Send`, the order in which arguments are dropped,
//! and the place and text of rustc's errors. Without the feature `record` the function is left alone.

mod arguments;
mod form;
mod function;
mod refused;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, ReturnType, Signature, Type};

use self::arguments::Arguments;
use self::form::Form;
use crate::Features;
use crate::args::fields::Fields;
use crate::args::instrument::InstrumentArgs;
use crate::expand::with_error;
use crate::impl_trait;
use crate::item::Item;

/// Expands the attribute, for a library with `features`.
///
/// Where something is wrong there is an error in the result, and beside it the function as it was.
pub(crate) fn attribute(args: TokenStream, tokens: TokenStream, features: Features) -> TokenStream {
    match expanded(args, &tokens) {
        Ok(expanded) if features.record => expanded,
        Ok(_) => tokens,
        Err(err) => with_error(tokens, &err),
    }
}

fn expanded(args: TokenStream, tokens: &TokenStream) -> syn::Result<TokenStream> {
    let item: Item = syn::parse2(tokens.clone()).map_err(|err| refused::error(tokens, err))?;
    let form = match Form::of(&item) {
        Ok(Some(form)) => form,
        Ok(None) => return Err(refused::not_async(&item.sig)),
        // A syntax error in the body is rustc's to report.
        Err(_) => return Ok(tokens.clone()),
    };
    let args = InstrumentArgs::read(args)?;
    let arguments = Arguments::of(&item);
    let named = arguments.named();
    let captured = |fields: &Fields| fields.captured(&item.sig.ident, &named);
    let captured = args.fields.as_ref().map(captured).transpose()?;

    // Of this crate's hygiene, but at the function: it is what is awaited there.
    let site = Span::mixed_site().located_at(item.sig.ident.span());
    let function = function::function(&item.sig.ident, args.name.as_ref());
    let wrap = |future: TokenStream| match args.fields.as_ref().zip(captured.as_ref()) {
        None => quote_spanned! {site=>
            ::tokio_statemap::__private::instrumented(#function, #future)
        },
        Some((Fields { text, .. }, captured)) => {
            let fields = function::fields(text, captured);
            // At the text, which is what is wrong if an argument is a borrow.
            quote_spanned! {Span::mixed_site().located_at(text.span())=>
                ::tokio_statemap::__private::instrumented_with(#function, #fields, #future)
            }
        }
    };
    Ok(match form {
        Form::AsyncFn => {
            let future = wrap(future(&item, &arguments, site));
            let sig = Signature { inputs: arguments.inputs(), ..item.sig.clone() };
            // With the user's hygiene, as the line of debug information would be the attribute's otherwise.
            let awaited = quote_spanned! {item.sig.ident.span()=> .await };
            item.with(TokenStream::new(), &sig, quote! { #future #awaited })
        }
        Form::Block { before, block } => {
            let future = wrap(block);
            item.with(TokenStream::new(), &item.sig, quote! { #before #future })
        }
        Form::Boxed { before, mut call } => {
            let future = wrap(call.args.to_token_stream());
            // The call keeps its place: it is what rustc's errors for its type point at.
            call.args = Punctuated::from_iter([Expr::Verbatim(future)]);
            item.with(TokenStream::new(), &item.sig, quote! { #before #call })
        }
    })
}

/// The body of an `async fn` as a future of its own.
fn future(item: &Item, arguments: &Arguments<'_>, site: Span) -> TokenStream {
    let taken = arguments.taken();
    let body = item.body();
    let returned = Ident::new("__returned", site);
    let output = match &item.sig.output {
        ReturnType::Default => Some(quote! { () }),
        // Types that nothing is coerced to, and that can't be named here.
        ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_) | Type::ImplTrait(_)) => None,
        ReturnType::Type(_, ty) => Some(impl_trait::erased(ty).into_token_stream()),
    };
    // An `async` block has the type of what it returns first.
    let returns = output.map(|ty| {
        quote_spanned! {site=>
            if let ::core::option::Option::Some(#returned) = ::core::option::Option::None::<#ty> {
                return #returned;
            }
        }
    });
    // The temporaries of an arm are dropped at its end. Those of a block would, before edition 2024,
    // outlive the arguments.
    let statements = quote_spanned! {site=>
        #taken
        #returns
        match () { () => #body }
    };
    // The block is where the body is, with the user's own hygiene: rustc doesn't call captured variables by
    // their names if it is from a macro.
    let at = item.body_span();
    let mut block = Group::new(Delimiter::Brace, statements);
    block.set_span(at);
    let block = TokenTree::from(block);
    quote_spanned! {at=> async move #block }
}

#[cfg(test)]
mod tests;
