//! The functions that can be instrumented.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Block, Expr, ExprCall, Stmt, Token};

use crate::item::Item;

/// The position of a function's future.
pub(super) enum Form {
    /// `async fn f() { … }`
    AsyncFn,
    /// `fn f() -> impl Future { …; async { … } }`
    Block {
        /// The statements before the block.
        before: TokenStream,
        /// The `async` block.
        block: TokenStream,
    },
    /// `fn f() -> Pin<Box<dyn Future>> { …; Box::pin(async { … }) }`, as `#[async_trait]` writes
    /// methods.
    Boxed {
        /// The statements before the call.
        before: TokenStream,
        /// The call, whose argument is the `async` block.
        call: ExprCall,
    },
}

impl Form {
    /// Returns the form of a function; `None` if it has none of them.
    ///
    /// # Errors
    ///
    /// Returns an error if the function's body can't be parsed.
    pub(super) fn detect(item: &Item) -> syn::Result<Option<Self>> {
        if item.sig.asyncness.is_some() {
            return Ok(Some(Self::AsyncFn));
        }
        let mut statements = Block::parse_within.parse2(item.statements())?;
        let Some(Stmt::Expr(last, None)) = statements.pop() else { return Ok(None) };
        let before = quote! { #(#statements)* };
        Ok(match ungrouped(&last) {
            block @ Expr::Async(_) => Some(Self::Block { before, block: block.to_token_stream() }),
            Expr::Call(call) if is_box_pin(&call.func) && is_async_block_alone(&call.args) => {
                Some(Self::Boxed { before, call: call.clone() })
            }
            _ => None,
        })
    }
}

/// Returns `true` for `Box::pin`, by any path.
fn is_box_pin(function: &Expr) -> bool {
    let Expr::Path(path) = ungrouped(function) else { return false };
    let mut names = path.path.segments.iter().rev().map(|segment| &segment.ident);
    names.next().is_some_and(|name| name == "pin") && names.next().is_some_and(|name| name == "Box")
}

fn is_async_block_alone(arguments: &Punctuated<Expr, Token![,]>) -> bool {
    arguments.len() == 1 && arguments.iter().all(|only| matches!(ungrouped(only), Expr::Async(_)))
}

/// Returns the expression without parentheses and without the groups of a `macro_rules!`.
fn ungrouped(expr: &Expr) -> &Expr {
    match expr {
        Expr::Group(group) => ungrouped(&group.expr),
        Expr::Paren(group) => ungrouped(&group.expr),
        _ => expr,
    }
}
