//! The recording of the expansion, with the given keys: `Recording::new().html(…)`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;

use crate::args::keys::call;
use crate::args::{Args, Kind};

/// Returns a recording of the function `name`, which isn't started yet.
pub(crate) fn recording(args: &Args, kind: Kind, name: &Ident) -> TokenStream {
    let keys = args.own.calls();
    let runtime = args.runtime.name.as_ref().map(|name| call("name", &quote! { #name }));
    let test = (kind == Kind::Test).then(|| {
        let name = name.unraw().to_string();
        call("test", &quote! { ::core::concat!(::core::module_path!(), "::", #name) })
    });
    let version = call("version", &quote! { ::core::option_env!("CARGO_PKG_VERSION") });
    let package = package(args.own.source).map(|folder| call("package", &folder));
    quote! {
        ::tokio_statemap::Recording::new() #keys #runtime #test #version #package
    }
}

/// Returns the folder of the program's package, which the page needs to show source. A program that shows no source
/// doesn't contain the path.
fn package(source: Option<bool>) -> Option<TokenStream> {
    let package = quote! { ::core::option_env!("CARGO_MANIFEST_DIR") };
    match source {
        Some(true) => Some(package),
        Some(false) => None,
        None => Some(quote! {
            if ::core::cfg!(debug_assertions) { #package } else { ::core::option::Option::None }
        }),
    }
}
