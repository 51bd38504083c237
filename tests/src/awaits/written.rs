//! Finds the async items of a source file.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Pat, Signature, Token};

use super::{Kind, Point};

/// An async fn, block or closure in the source.
#[derive(Clone, Debug)]
pub struct Written {
    /// The kind of item, as the compiler sees it.
    pub kind: Kind,
    /// The line where it begins, according to the compiler.
    pub begin: usize,
    /// The suspend points, in the order of evaluation.
    pub points: Vec<Point>,
    /// `true` if it calls an unknown macro whose arguments await.
    pub is_unclear: bool,
}

/// Returns the async items of a file, in the order of their beginnings.
///
/// # Errors
///
/// If the source can't be parsed.
pub fn written(source: &str) -> syn::Result<Vec<Written>> {
    let mut walk = Walk::default();
    walk.visit_file(&syn::parse_file(source)?);
    Ok(walk.all)
}

#[derive(Default)]
struct Walk {
    all: Vec<Written>,
    /// The items that the walk is in; `None` for one that isn't async.
    open: Vec<Option<usize>>,
}

fn line(span: Span) -> usize {
    span.start().line
}

impl Walk {
    fn within(&mut self, one: Option<(Kind, usize)>, visit: impl FnOnce(&mut Self)) {
        let index = one.map(|(kind, begin)| {
            self.all.push(Written { kind, begin, points: Vec::new(), is_unclear: false });
            self.all.len() - 1
        });
        self.open.push(index);
        visit(self);
        self.open.pop();
    }

    fn within_fn(&mut self, sig: &Signature, attrs: &[Attribute], body: &syn::Block) {
        let runtime = attrs.iter().find(|attribute| {
            let names = attribute.path().segments.iter().map(|segment| segment.ident.to_string());
            let names: Vec<_> = names.collect();
            matches!(&names[..], [krate, .., name] if krate.starts_with("tokio") && (name == "main" || name == "test"))
        });
        let one = sig.asyncness.is_some().then(|| match runtime {
            Some(attribute) => (Kind::Block, line(attribute.pound_token.span)),
            None => (Kind::Fn, line(body.brace_token.span.open())),
        });
        self.within(one, |walk| visit::visit_block(walk, body));
    }

    fn innermost(&mut self) -> Option<&mut Written> {
        let index = self.open.last().copied().flatten()?;
        Some(&mut self.all[index])
    }

    fn add(&mut self, point: Point) {
        if let Some(written) = self.innermost() {
            written.points.push(point);
        }
    }
}

impl<'ast> Visit<'ast> for Walk {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within_fn(&item.sig, &item.attrs, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.within_fn(&item.sig, &item.attrs, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.within_fn(&item.sig, &item.attrs, block);
        }
    }

    fn visit_expr_async(&mut self, expr: &'ast syn::ExprAsync) {
        let one = (Kind::Block, line(expr.async_token.span()));
        self.within(Some(one), |walk| visit::visit_block(walk, &expr.block));
    }

    fn visit_expr_closure(&mut self, expr: &'ast syn::ExprClosure) {
        let one = expr.asyncness.is_some().then(|| (Kind::Closure, line(expr.body.span())));
        self.within(one, |walk| walk.visit_expr(&expr.body));
    }

    fn visit_expr_await(&mut self, expr: &'ast syn::ExprAwait) {
        self.visit_expr(&expr.base);
        self.add(Point::Line(line(expr.await_token.span())));
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let path = &call.path.segments;
        let name = path.last().map(|last| last.ident.to_string()).unwrap_or_default();
        let tokens = call.tokens.clone();
        match name.as_str() {
            "join" | "try_join" => {
                let Ok(all) = arguments.parse2(tokens) else { return };
                all.iter().for_each(|one| self.visit_expr(one));
                let is_futures = path.first().is_some_and(|first| first.ident == "futures");
                // The crate `futures` has both macros in one file.
                let name =
                    if is_futures { "futures::join".to_owned() } else { format!("tokio::{name}") };
                self.add(Point::Macro(name));
            }
            "select" => {
                let Ok(Select { futures, handlers }) = syn::parse2(tokens) else { return };
                futures.iter().for_each(|one| self.visit_expr(one));
                self.add(Point::Macro("tokio::select".to_owned()));
                handlers.iter().for_each(|one| self.visit_expr(one));
            }
            _ => match arguments.parse2(tokens.clone()) {
                Ok(all) => all.iter().for_each(|one| self.visit_expr(one)),
                Err(_) if awaits(tokens) => {
                    if let Some(written) = self.innermost() {
                        written.is_unclear = true;
                    }
                }
                Err(_) => {}
            },
        }
    }
}

fn arguments(input: ParseStream<'_>) -> syn::Result<Punctuated<Expr, Token![,]>> {
    skip_biased(input)?;
    Punctuated::parse_terminated(input)
}

fn skip_biased(input: ParseStream<'_>) -> syn::Result<()> {
    let ahead = input.fork();
    if ahead.parse::<syn::Ident>().is_ok_and(|word| word == "biased") && ahead.peek(Token![;]) {
        input.parse::<syn::Ident>()?;
        input.parse::<Token![;]>()?;
    }
    Ok(())
}

fn awaits(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "await",
        TokenTree::Group(group) => awaits(group.stream()),
        _ => false,
    })
}

/// The branches of `tokio::select!`.
struct Select {
    futures: Vec<Expr>,
    handlers: Vec<Expr>,
}

impl Parse for Select {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (mut futures, mut handlers) = (Vec::new(), Vec::new());
        skip_biased(input)?;
        while !input.is_empty() {
            if input.peek(Token![else]) {
                input.parse::<Token![else]>()?;
            } else {
                Pat::parse_multi_with_leading_vert(input)?;
                input.parse::<Token![=]>()?;
                futures.push(input.parse()?);
                if input.peek(Token![,]) {
                    input.parse::<Token![,]>()?;
                    input.parse::<Token![if]>()?;
                    input.parse::<Expr>()?;
                }
            }
            input.parse::<Token![=>]>()?;
            let handler = match input.peek(syn::token::Brace) {
                true => Expr::Block(input.parse()?),
                false => input.parse()?,
            };
            handlers.push(handler);
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(Self { futures, handlers })
    }
}
