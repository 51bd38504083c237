//! The function that an attribute is applied to.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, ParseStream};
use syn::token::Brace;
use syn::{AttrStyle, Attribute, Meta, Signature, Token, Visibility, braced};

/// A function whose body is only split into statements.
///
/// The body isn't parsed any further: rustc reports its syntax errors, and editors get completions
/// from a body that is only half written.
pub(crate) struct Item {
    outer_attrs: Vec<Attribute>,
    vis: Visibility,
    pub(crate) sig: Signature,
    brace: Brace,
    inner_attrs: Vec<Attribute>,
    /// The statements, with their `;`.
    statements: Vec<TokenStream>,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let outer_attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let sig = input.parse()?;
        let content;
        let brace = braced!(content in input);
        let inner_attrs = content.call(Attribute::parse_inner)?;

        let mut statements = Vec::new();
        let mut statement = TokenStream::new();
        while !content.is_empty() {
            if let Some(semicolon) = content.parse::<Option<Token![;]>>()? {
                semicolon.to_tokens(&mut statement);
                statements.push(std::mem::take(&mut statement));
            } else {
                statement.extend([content.parse::<TokenTree>()?]);
            }
        }
        if !statement.is_empty() {
            statements.push(statement);
        }

        Ok(Self { outer_attrs, vis, sig, brace, inner_attrs, statements })
    }
}

impl Item {
    /// Returns the body, in the user's braces.
    pub(crate) fn body(&self) -> TokenStream {
        let mut group = Group::new(Delimiter::Brace, self.statements());
        group.set_span(self.body_span());
        TokenTree::from(group).into_token_stream()
    }

    /// Returns the span of the body, including its braces.
    pub(crate) fn body_span(&self) -> Span {
        self.brace.span.join()
    }

    /// Returns the tokens between the braces.
    pub(crate) fn statements(&self) -> TokenStream {
        self.statements.iter().cloned().collect()
    }

    /// Returns the tokens of the last statement; none if the body is empty.
    pub(crate) fn last_statement(&self) -> TokenStream {
        self.statements.last().cloned().unwrap_or_default()
    }

    /// Returns the attribute that makes the function a test, if there is one.
    pub(crate) fn test_attr(&self) -> Option<&Attribute> {
        self.outer_attrs.iter().chain(&self.inner_attrs).find(|attr| is_test_attr(attr))
    }

    /// Returns the function with another signature and body.
    pub(crate) fn with(
        &self,
        extra_attrs: TokenStream,
        sig: &Signature,
        body: TokenStream,
    ) -> TokenStream {
        let mut tokens = TokenStream::new();
        for attr in &self.outer_attrs {
            attr.to_tokens(&mut tokens);
        }
        // The block that the body becomes may not have inner attributes.
        for attr in &self.inner_attrs {
            let attr = Attribute { style: AttrStyle::Outer, ..attr.clone() };
            attr.to_tokens(&mut tokens);
        }
        // They come last, so that the macros after this one see them.
        tokens.extend(extra_attrs);

        self.vis.to_tokens(&mut tokens);
        sig.to_tokens(&mut tokens);
        self.brace.surround(&mut tokens, |tokens| tokens.extend(body));
        tokens
    }
}

/// Returns `true` for `#[test]`, `#[core::prelude::v1::test]` and `#[std::prelude::v1::test]`, of
/// any version of the prelude, with or without leading colons.
fn is_test_attr(attr: &Attribute) -> bool {
    let Meta::Path(path) = &attr.meta else {
        return false;
    };
    if path.segments.iter().any(|segment| !segment.arguments.is_none()) {
        return false;
    }
    let names: Vec<String> =
        path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["test"] => path.leading_colon.is_none(),
        ["core" | "std", "prelude", _, "test"] => true,
        _ => false,
    }
}
