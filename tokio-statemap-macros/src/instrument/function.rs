//! The values that describe a function and a call to the wrapper.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Ident, LitStr};

/// Returns a reference to the `Function` of the function `ident`.
///
/// It is in its own block, so that its names don't enter any scope.
pub(super) fn function(ident: &Ident, name: Option<&LitStr>) -> TokenStream {
    let site = Span::mixed_site().located_at(ident.span());
    // The name has the user's hygiene. With the macro's, the line would be the attribute's.
    let place = quote_spanned! {ident.span()=>
        ::core::file!(), ::core::line!(), ::core::column!()
    };
    let function = quote_spanned! {site=> ::tokio_statemap::__private::Function };
    let (here, new) = match name {
        Some(name) => (None, quote_spanned! {site=> #function::named(#name, #place) }),
        // The path of a function is a prefix of the name of a type within it.
        None => (
            Some(quote_spanned! {site=> struct __here; }),
            quote_spanned! {site=> #function::new(::core::any::type_name::<__here>, #place) },
        ),
    };
    quote_spanned! {site=>
        {
            #here
            static __FUNCTION: #function = #new;
            &__FUNCTION
        }
    }
}

/// Returns a closure that formats `text` with the values of the `captured` arguments at the call,
/// given as names and variables.
///
/// The values are cloned, as the closure may be called while the function uses its own. All spans
/// are at the text, so that errors about types that can't be cloned or formatted point there.
pub(super) fn fields(text: &LitStr, captured: &[(&Ident, &Ident)]) -> TokenStream {
    let site = Span::mixed_site().located_at(text.span());
    let owned: Vec<Ident> =
        (0..captured.len()).map(|at| format_ident!("__field{at}", span = site)).collect();
    let names = captured.iter().map(|(name, _)| name);
    let arguments = captured.iter().map(|(_, variable)| {
        let mut variable = (*variable).clone();
        variable.set_span(variable.span().located_at(text.span()));
        variable
    });
    let formatter = Ident::new("__formatter", site);
    quote_spanned! {site=>
        {
            #(let #owned = {
                use ::std::borrow::ToOwned as _;
                #arguments.to_owned()
            };)*
            move |#formatter: &mut ::core::fmt::Formatter<'_>| -> ::core::fmt::Result {
                #formatter.write_fmt(::core::format_args!(#text, #(#names = #owned),*))
            }
        }
    }
}
