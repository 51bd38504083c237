//! Finds the names in a function's body.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt;

/// The names that a body mentions: a superset of the variables that it uses.
pub(super) struct Mentioned {
    names: HashSet<String>,
    /// The literals, as a format string may capture a variable.
    literals: Vec<String>,
}

impl Mentioned {
    pub(super) fn from_body(body: TokenStream) -> Self {
        let mut mentioned = Self { names: HashSet::new(), literals: Vec::new() };
        mentioned.add(body);
        mentioned
    }

    fn add(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add(group.stream()),
                TokenTree::Ident(name) => {
                    self.names.insert(name.unraw().to_string());
                }
                TokenTree::Literal(literal) => self.literals.push(literal.to_string()),
                TokenTree::Punct(_) => {}
            }
        }
    }

    /// Returns `true` if the body mentions this name.
    pub(super) fn has(&self, name: &Ident) -> bool {
        let name = name.unraw().to_string();
        self.names.contains(&name) || self.literals.iter().any(|literal| literal.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Ident, Span};
    use quote::quote;

    use super::Mentioned;

    #[test]
    fn names_are_found_wherever_they_are() {
        let body = quote!({
            work(a, &[b.c]);
            println!("{d:?}");
            r#type
        });
        let mentioned = Mentioned::from_body(body);
        let has = |name| mentioned.has(&Ident::new(name, Span::call_site()));
        for name in ["a", "b", "c", "d"] {
            assert!(has(name), "{name}");
        }
        assert!(mentioned.has(&Ident::new_raw("type", Span::call_site())));
        assert!(!has("e"));
    }
}
