//! The expansion of `instrument`.
//!
//! The function's body becomes a future that is polled through a wrapper. Everything else stays the
//! same: the signature, `Send`, the order in which arguments are dropped, and rustc's errors with
//! their positions. Without the feature `record` the function is unchanged.

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
/// On an error, the result contains the unchanged function next to the error.
pub(crate) fn attribute(args: TokenStream, tokens: TokenStream, features: Features) -> TokenStream {
    match expanded(args, &tokens) {
        Ok(expanded) if features.record => expanded,
        Ok(_) => tokens,
        Err(err) => with_error(tokens, &err),
    }
}

fn expanded(args: TokenStream, tokens: &TokenStream) -> syn::Result<TokenStream> {
    let item: Item = syn::parse2(tokens.clone()).map_err(|err| refused::error(tokens, err))?;
    let form = match Form::detect(&item) {
        Ok(Some(form)) => form,
        Ok(None) => return Err(refused::not_async(&item.sig)),
        // rustc reports syntax errors in the body.
        Err(_) => return Ok(tokens.clone()),
    };
    let args = InstrumentArgs::read(args)?;
    let arguments = Arguments::from_item(&item);
    let named = arguments.named();
    let captured = |fields: &Fields| fields.captured(&item.sig.ident, &named);
    let captured = args.fields.as_ref().map(captured).transpose()?;

    // The macro's hygiene, located at the function, as the future is awaited there.
    let site = Span::mixed_site().located_at(item.sig.ident.span());
    let function = function::function(&item.sig.ident, args.name.as_ref());
    let wrap = |future: TokenStream| match args.fields.as_ref().zip(captured.as_ref()) {
        None => quote_spanned! {site=>
            ::tokio_statemap::__private::instrumented(#function, #future)
        },
        Some((Fields { text, .. }, captured)) => {
            let fields = function::fields(text, captured);
            // Errors about borrowed arguments point at the text.
            quote_spanned! {Span::mixed_site().located_at(text.span())=>
                ::tokio_statemap::__private::instrumented_with(#function, #fields, #future)
            }
        }
    };
    Ok(match form {
        Form::AsyncFn => {
            let future = wrap(future(&item, &arguments, site));
            let sig = Signature { inputs: arguments.inputs(), ..item.sig.clone() };
            // With the macro's hygiene, debug information would have the attribute's line.
            let awaited = quote_spanned! {item.sig.ident.span()=> .await };
            item.with(TokenStream::new(), &sig, quote! { #future #awaited })
        }
        Form::Block { before, block } => {
            let future = wrap(block);
            item.with(TokenStream::new(), &item.sig, quote! { #before #future })
        }
        Form::Boxed { before, mut call } => {
            let future = wrap(call.args.to_token_stream());
            // The call keeps its span, as rustc's errors about its type point at it.
            call.args = Punctuated::from_iter([Expr::Verbatim(future)]);
            item.with(TokenStream::new(), &item.sig, quote! { #before #call })
        }
    })
}

/// Returns the body of an `async fn` as a future.
fn future(item: &Item, arguments: &Arguments<'_>, site: Span) -> TokenStream {
    let taken = arguments.taken();
    let body = item.body();
    let returned = Ident::new("__returned", site);
    let output = match &item.sig.output {
        ReturnType::Default => Some(quote! { () }),
        // Nothing coerces to these types, and they can't be named here.
        ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_) | Type::ImplTrait(_)) => None,
        ReturnType::Type(_, ty) => Some(impl_trait::erased(ty).into_token_stream()),
    };
    // The type of an `async` block is that of the first value it returns.
    let returns = output.map(|ty| {
        quote_spanned! {site=>
            if let ::core::option::Option::Some(#returned) = ::core::option::Option::None::<#ty> {
                return #returned;
            }
        }
    });
    // The temporaries of a match arm are dropped at its end. Before edition 2024, those of a block
    // would outlive the arguments.
    let statements = quote_spanned! {site=>
        #taken
        #returns
        match () { () => #body }
    };
    // The block has the body's position and the user's hygiene: rustc doesn't show the names of
    // variables that are captured by a macro's block.
    let at = item.body_span();
    let mut block = Group::new(Delimiter::Brace, statements);
    block.set_span(at);
    let block = TokenTree::from(block);
    quote_spanned! {at=> async move #block }
}

#[cfg(test)]
mod tests;
