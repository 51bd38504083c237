//! The `Settings` expression of a recorded run: the given keys, and `..` for the others.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use crate::args::keys::field;
use crate::args::{Args, Kind};

/// Returns `Settings { … }` for the function `name`.
pub(crate) fn settings(args: &Args, kind: Kind, name: &Ident) -> TokenStream {
    let private = quote! { ::tokio_statemap::__private };
    let fields = args.own.settings();
    let runtime = args
        .runtime
        .name
        .as_ref()
        .map(|name| field("runtime", &quote! { ::core::option::Option::Some(#name) }));
    let base = match kind {
        Kind::Main => quote! { main() },
        Kind::Test => {
            let name = name.unraw().to_string();
            quote! {
                test(::core::concat!(::core::module_path!(), "::", #name))
            }
        }
    };
    let workspace = workspace(args.own.source);
    quote! {
        #private::Settings {
            #fields
            #runtime
            version: ::core::option_env!("CARGO_PKG_VERSION"),
            #workspace
            ..#private::Settings::#base
        }
    }
}

/// Returns the field with the folder of the program's package, which the page needs to show source.
/// A program that shows no source doesn't contain the path.
fn workspace(source: Option<bool>) -> Option<TokenStream> {
    let package = quote! { ::core::option_env!("CARGO_MANIFEST_DIR") };
    let value = match source {
        Some(true) => package,
        Some(false) => return None,
        None => quote! {
            if ::core::cfg!(debug_assertions) { #package } else { ::core::option::Option::None }
        },
    };
    Some(field("package", &value))
}
