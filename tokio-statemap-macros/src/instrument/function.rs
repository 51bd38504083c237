//! What the wrapper is told of a function, and of a call.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Ident, LitStr};

/// A reference to the `Function` of the function `ident`.
///
/// It is in a block of its own, so that its names are in nobody's scope.
pub(super) fn function(ident: &Ident, name: Option<&LitStr>) -> TokenStream {
    let site = Span::mixed_site().located_at(ident.span());
    // The function's name with the user's own hygiene: with the macro's, the line would be that of the
    // attribute.
    let place = quote_spanned! {ident.span()=>
        ::core::file!(), ::core::line!(), ::core::column!()
    };
    let function = quote_spanned! {site=> ::tokio_statemap::__private::Function };
    let (here, new) = match name {
        Some(name) => (None, quote_spanned! {site=> #function::named(#name, #place) }),
        // The path of a function is the beginning of the name of a type in it.
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

/// A closure that writes `text` with what the `captured` arguments are at the call: their names, and the
/// variables that they are in.
///
/// They are cloned, as it may be called while the function uses its own. All of it is at the text, which
/// is where it is to be seen that one of them can't be cloned or written.
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
