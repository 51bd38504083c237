use proc_macro2::TokenStream;
use quote::quote;

use super::attribute;
use crate::Features;
use crate::args::Kind;

fn expand(args: TokenStream, item: TokenStream, kind: Kind, record: bool) -> String {
    attribute(
        args,
        item,
        kind,
        Features { record, html: record, svg: record, black_box: record, recover: record },
    )
    .to_string()
}

/// Returns the names of the functions, if the text is one that rustc could parse.
fn functions(text: &str) -> Vec<String> {
    let file: syn::File = syn::parse_str(text).unwrap_or_else(|err| panic!("{err}:\n{text}"));
    file.items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Fn(function) => Some(function.sig.ident.to_string()),
            _ => None,
        })
        .collect()
}

#[test]
fn without_recording_it_is_tokios_attribute() {
    let item = quote! {
        /// Docs.
        pub async fn main() -> Result<(), Error> { #![allow(unused)] work().await }
    };
    for (args, kind, expected) in [
        (quote!(), Kind::Main, quote!(#[tokio::main])),
        (quote!(), Kind::Test, quote!(#[tokio::test])),
        (
            quote!(tasks = "tasks.json", keep = "first", report = path(), html = path(), svg = "s"),
            Kind::Main,
            quote!(#[tokio::main]),
        ),
        (
            quote!(tasks = "t", flavor = "multi_thread", trace = "both", worker_threads = 0x2,),
            Kind::Main,
            quote!(#[tokio::main(flavor = "multi_thread", worker_threads = 0x2)]),
        ),
        (
            quote!(start_paused = true, long_poll = "1s"),
            Kind::Test,
            quote!(#[tokio::test(start_paused = true)]),
        ),
    ] {
        assert_eq!(expand(args, item.clone(), kind, false), quote!(#expected #item).to_string());
    }
}

#[test]
fn without_recording_configure_and_hooks_still_apply() {
    let args = quote!(configure = settings::configure, hooks = hooks, tasks = "tasks.json");
    let text = expand(
        args,
        quote!(
            async fn main() {}
        ),
        Kind::Main,
        false,
    );
    assert_eq!(functions(&text), ["main"]);
    assert!(text.contains("Hooks :: install"), "{text}");
    assert!(text.contains("= settings :: configure ;"), "{text}");
    assert!(!text.contains("Recording") && !text.contains("tasks.json"), "{text}");
}

#[test]
fn without_recording_crate_needs_no_attribute_in_it() {
    let args = quote!(crate = "reexport", tasks = "tasks.json");
    let text = expand(
        args,
        quote!(
            async fn main() {}
        ),
        Kind::Main,
        false,
    );
    assert!(text.contains("use reexport :: runtime :: Builder ;"), "{text}");
    assert!(!text.contains("statemap"), "{text}");
}

#[test]
fn where_the_package_is_stands_only_in_what_shows_source() {
    let function = || {
        quote!(
            async fn main() {}
        )
    };
    let with = |args| expand(args, function(), Kind::Main, true);
    let (shown, hidden) = (with(quote!(source = true)), with(quote!(source = false)));
    let package = "package (:: core :: option_env ! (\"CARGO_MANIFEST_DIR\")";
    assert!(shown.contains("source (true)") && shown.contains(package), "{shown}");
    assert!(
        hidden.contains("source (false)") && !hidden.contains("CARGO_MANIFEST_DIR"),
        "{hidden}"
    );
}

#[test]
fn recording_has_the_keys_that_are_given() {
    let args = quote! {
        tasks = dir().join("t"), html = page(), svg = "s", report = stderr, trace = "tasks", max_events = 7,
        long_poll = "2us", duration = "1s", name = "n", worker_threads = 3,
    };
    let text = expand(
        args,
        quote!(
            async fn main() {}
        ),
        Kind::Main,
        true,
    );
    assert_eq!(functions(&text), ["main"]);
    let recording = quote! {
        ::tokio_statemap::Recording::new()
            .tasks(::core::convert::Into::<::std::path::PathBuf>::into(dir().join("t")))
            .html(::core::convert::Into::<::std::path::PathBuf>::into(page()))
            .svg(::core::convert::Into::<::std::path::PathBuf>::into("s"))
            .trace(::tokio_statemap::TraceTarget::Tasks)
            .max_events(7usize)
            .long_poll(::core::time::Duration::from_nanos(2000u64))
            .duration(::core::time::Duration::from_nanos(1000000000u64))
            .name("n")
            .version(::core::option_env!("CARGO_PKG_VERSION"))
            .package(if ::core::cfg!(debug_assertions) {
                ::core::option_env!("CARGO_MANIFEST_DIR")
            } else {
                ::core::option::Option::None
            });
    };
    assert!(text.contains(&recording.to_string()), "{text}");
    assert!(text.contains(". worker_threads (3usize)"), "{text}");
}

#[test]
fn recording_a_test_gives_its_name() {
    let text = expand(
        quote!(),
        quote!(
            async fn r#match() {}
        ),
        Kind::Test,
        true,
    );
    let name = quote!(::core::concat!(::core::module_path!(), "::", "match"));
    assert!(text.contains(&name.to_string()), "{text}");
    assert!(text.starts_with("# [:: core :: prelude :: v1 :: test] fn r#match"), "{text}");
}

#[test]
fn an_error_comes_with_a_function() {
    for record in [true, false] {
        for (args, item, message) in [
            (
                quote!(foo = 1),
                quote!(
                    async fn work(a: u8) -> u8 {
                        a
                    }
                ),
                "Unknown attribute foo",
            ),
            (
                quote!(duration = 1),
                quote!(
                    async fn work() {}
                ),
                "as duration",
            ),
            (
                quote!(tasks = "a" "b"),
                quote!(
                    async fn work() {}
                ),
                "expected `,`",
            ),
            (
                quote!(),
                quote!(
                    fn work() {}
                ),
                "the `async` keyword is missing",
            ),
        ] {
            let text = expand(args, item, Kind::Main, record);
            assert!(text.contains(message) && text.contains("compile_error"), "{text}");
            assert_eq!(functions(&text), ["work"]);
        }
    }

    // An item that isn't a function is left unchanged.
    let text = expand(
        quote!(),
        quote!(
            struct S;
        ),
        Kind::Main,
        true,
    );
    assert!(text.starts_with("struct S ;") && text.contains("compile_error"), "{text}");
}

#[test]
fn of_several_errors_tokios_first() {
    let main_with_arguments = quote!(
        fn main(a: u8) {}
    );
    let text = expand(quote!(foo), main_with_arguments, Kind::Main, true);
    assert!(text.contains("the main function cannot accept arguments"), "{text}");

    let twice = quote!(
        #[test]
        fn twice() {}
    );
    let text = expand(quote!(foo), twice, Kind::Test, true);
    assert!(text.contains("second test attribute is supplied"), "{text}");

    let text = expand(
        quote!(foo),
        quote!(
            fn main() {}
        ),
        Kind::Main,
        true,
    );
    assert!(text.contains("the `async` keyword is missing"), "{text}");
}

#[test]
fn a_body_that_does_not_parse_is_passed_on() {
    let item = quote!(async fn main() { let x = ; match });
    for record in [true, false] {
        let text = expand(quote!(), item.clone(), Kind::Main, record);
        assert!(text.contains("{ let x = ; match }"), "{text}");
        assert!(!text.contains("compile_error"), "{text}");
    }
}
