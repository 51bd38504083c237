use proc_macro2::TokenStream;
use quote::quote;

use super::attribute;
use crate::Features;

fn expand(args: TokenStream, item: &TokenStream, record: bool) -> String {
    attribute(
        args,
        item.clone(),
        Features { record, html: record, svg: record, black_box: record, recover: record },
    )
    .to_string()
}

/// Returns the expansion with recording, which rustc could parse.
fn recorded(args: TokenStream, item: TokenStream) -> String {
    let text = expand(args, &item, true);
    syn::parse_str::<syn::File>(&text).unwrap_or_else(|err| panic!("{err}:\n{text}"));
    text
}

fn contains(text: &str, tokens: &TokenStream) -> bool {
    text.contains(&tokens.to_string())
}

#[test]
fn without_recording_it_is_the_function() {
    for item in [
        quote! {
            /// Docs.
            #[inline]
            pub(crate) async fn work<'a, T: Send>(&self, (a, mut b): (u8, T), _: &'a str) -> Result<(), E>
            where
                T: 'a,
            {
                #![allow(unused)]
                other().await?;
                Ok(())
            }
        },
        quote!(
            unsafe extern "C" fn work() -> impl Future<Output = u8> {
                let a = 1;
                async move { a }
            }
        ),
        quote!(
            fn work(n: u8) -> Pin<Box<dyn Future<Output = u8>>> {
                Box::pin(async move { n })
            }
        ),
        quote!(async fn half_written() { let a = ; match }),
        quote!(fn half_written() { let a = ; match }),
    ] {
        assert_eq!(expand(quote!(), &item, false), item.to_string());
        assert_eq!(expand(quote!(name = "a", fields = ""), &item, false), item.to_string());
    }
}

#[test]
fn an_error_comes_with_the_function_as_it_is() {
    for record in [true, false] {
        for (args, item, message) in [
            (
                quote!(level = 1),
                quote!(
                    async fn work() {}
                ),
                "Unknown attribute level",
            ),
            (
                quote!(fields = "{b}"),
                quote!(
                    async fn work(a: u8) {}
                ),
                "expected one of: `{a}`.",
            ),
            (
                quote!(fields = "{a}"),
                quote!(
                    async fn work((a, b): P) {}
                ),
                "no named arguments",
            ),
            (
                quote!(fields = "{self}"),
                quote!(
                    async fn work(&self) {}
                ),
                "can't capture `self`",
            ),
            (
                quote!(),
                quote!(
                    fn work() {
                        block_on(async {})
                    }
                ),
                "can only be applied to an `async fn`",
            ),
            (
                quote!(),
                quote!(
                    fn work() {
                        async {};
                    }
                ),
                "can only be applied to an `async fn`",
            ),
            (
                quote!(),
                quote!(
                    fn work() {
                        Rc::pin(async {})
                    }
                ),
                "can only be applied to an `async fn`",
            ),
            (
                quote!(),
                quote!(
                    fn work() {
                        Box::pin(work())
                    }
                ),
                "can only be applied to an `async fn`",
            ),
            (
                quote!(),
                quote!(
                    #[doc = ""]
                    pub unsafe trait Work {}
                ),
                "applied to a `trait`",
            ),
            (
                quote!(),
                quote!(
                    impl<T> Work for T {
                        async fn work() {}
                    }
                ),
                "applied to an `impl`",
            ),
            (
                quote!(),
                quote!(
                    async fn work(&self);
                ),
                "requires a function body",
            ),
            (
                quote!(),
                quote!(
                    mod work {}
                ),
                "can only be applied to async functions",
            ),
        ] {
            let text = expand(args, &item, record);
            assert!(text.starts_with(&item.to_string()), "{text}");
            assert!(text.contains(message) && text.contains("compile_error"), "{text}");
        }
    }
}

#[test]
fn the_body_is_polled_through_the_wrapper() {
    let text = recorded(
        quote!(),
        quote!(
            async fn work() -> u8 {
                5
            }
        ),
    );
    let private = quote!(::tokio_statemap::__private);
    let expected = quote! {
        async fn work() -> u8 {
            #private::instrumented(
                {
                    struct __here;
                    static __FUNCTION: #private::Function = #private::Function::new(
                        ::core::any::type_name::<__here>,
                        ::core::file!(), ::core::line!(), ::core::column!()
                    );
                    &__FUNCTION
                },
                async move {
                    if let ::core::option::Option::Some(__returned) =
                        ::core::option::Option::None::<u8>
                    {
                        return __returned;
                    }
                    match () { () => { 5 } }
                }
            )
            .await
        }
    };
    assert_eq!(text, expected.to_string());
}

#[test]
fn a_name_takes_the_place_of_the_path() {
    let text = recorded(
        quote!(name = "load an order"),
        quote!(
            async fn work() {}
        ),
    );
    assert!(text.contains(r#"Function :: named ("load an order" , :: core :: file"#), "{text}");
    assert!(!text.contains("__here"), "{text}");
}

#[test]
fn arguments_are_captured_or_bound() {
    let of = |inputs: TokenStream, body: TokenStream| {
        let text = recorded(quote!(), quote!(async fn work(#inputs) { #body }));
        let (_, taken) = text.split_once("async move {").expect("there is a block");
        let (taken, _) = taken.split_once("if let").expect("there is a check of the type");
        let (inputs, _) = text.split_once(" {").expect("there is a body");
        (inputs.replacen("async fn work", "", 1).trim().to_owned(), taken.trim().to_owned())
    };
    for (inputs, body, outside, taken) in [
        (quote!(), quote!(), quote!(()), quote!()),
        (quote!(a: A, b: B), quote!(f(b, "{a}")), quote!((a: A, b: B)), quote!(let _ = (&b, &a,);)),
        (quote!(&mut self), quote!(), quote!((&mut self)), quote!(let _ = (&self,);)),
        (
            quote!(mut self, a: A),
            quote!(a),
            quote!((mut self, a: A)),
            quote!(let _ = (&a, &self,);),
        ),
        (quote!(a: A), quote!(), quote!((a: A)), quote!(let a = a;)),
        (quote!(_a: A), quote!(), quote!((_a: A)), quote!(let _ = (&_a,);)),
        (
            quote!(self, a: A, mut b: B, c: C, _d: D),
            quote!((a, b, c)),
            quote!((self, a: A, b: B, c: C, _d: D)),
            quote!(let _ = (&a, &self,); let mut b = b; let c = c; let _d = _d;),
        ),
        (
            quote!(a: A, (b, _): B, _: C),
            quote!(a),
            quote!((a: A, __arg1: B, __arg2: C)),
            quote! {
                let _ = (&a,);
                let __arg1 = __arg1;
                let (b, _) = __arg1;
                let __arg2 = __arg2;
                let _ = __arg2;
            },
        ),
        (
            quote!(#[cfg(a)] #[allow(unused)] a: A),
            quote!(a),
            quote!((#[cfg(a)] a: A)),
            quote!(#[cfg(a)] #[allow(unused)] let a = a;),
        ),
    ] {
        assert_eq!(of(inputs, body), (outside.to_string(), taken.to_string()));
    }
}

#[test]
fn what_is_returned_is_checked_where_it_can_be_named() {
    let checked = |output: TokenStream| {
        let text = recorded(quote!(), quote!(async fn work() #output { x }));
        let (_, rest) = text.split_once("Option :: None :: <")?;
        rest.split_once("> {").map(|(ty, _)| ty.trim().to_owned())
    };
    for (output, expected) in [
        (quote!(), Some("()")),
        (quote!(-> Vec<u8>), Some("Vec < u8 >")),
        (quote!(-> Result<impl Send, E>), Some("Result < _ , E >")),
        (quote!(-> impl Send), None),
        (quote!(-> !), None),
    ] {
        assert_eq!(checked(output).as_deref(), expected);
    }
}

#[test]
fn fields_are_owned_by_a_closure() {
    let item = quote!(
        async fn work(mut id: u64, r#type: &str, other: u8) {
            id += 1;
            r#type
        }
    );
    let text = recorded(quote!(fields = "{type} {id:?} {type}"), item);
    assert!(text.contains("__private :: instrumented_with"), "{text}");
    let closure = quote! {
        {
            let __field0 = { use ::std::borrow::ToOwned as _; r#type.to_owned() };
            let __field1 = { use ::std::borrow::ToOwned as _; id.to_owned() };
            move |__formatter: &mut ::core::fmt::Formatter<'_>| -> ::core::fmt::Result {
                __formatter.write_fmt(
                    ::core::format_args!("{type} {id:?} {type}", r#type = __field0, id = __field1)
                )
            }
        }
    };
    assert!(contains(&text, &closure), "{text}");
}

#[test]
fn futures_that_are_returned_are_wrapped_where_they_are() {
    let text = recorded(
        quote!(name = "n"),
        quote!(
            fn work() -> impl Future {
                first();
                let a = 1;
                async move { a }
            }
        ),
    );
    assert!(
        text.starts_with("fn work () -> impl Future { first () ; let a = 1 ; :: tokio_statemap"),
        "{text}"
    );
    assert!(text.ends_with(", async move { a }) }"), "{text}");

    let text = recorded(
        quote!(name = "n"),
        quote!(
            fn work() -> Pin<Box<dyn Future>> {
                a::Box::pin((async {}))
            }
        ),
    );
    assert!(text.contains("{ a :: Box :: pin (:: tokio_statemap"), "{text}");
}
