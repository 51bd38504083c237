//! The key `fields`: a format string that captures arguments of the function.

use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::{Expr, Ident, Lit, LitStr};

use super::keys::Value;
use super::literal;

/// A format string with the names in it.
pub(crate) struct Fields {
    /// The string as written.
    pub(crate) text: LitStr,
    /// The captured names, each once, in order.
    names: Vec<String>,
}

impl Value for Fields {
    type Read = Self;

    fn read(value: &Expr, key: &str) -> syn::Result<Self> {
        let lit = literal::expect(value)?;
        let Lit::Str(text) = lit else { return Err(literal::not_a_string(lit, key)) };
        let names = captured(&text.value()).map_err(|msg| literal::error(lit, msg))?;
        Ok(Self { text: text.clone(), names })
    }
}

impl Fields {
    /// Returns the captured ones of `arguments`, the named arguments of `function`, each with the
    /// variable that holds it.
    pub(crate) fn captured<'a>(
        &self,
        function: &Ident,
        arguments: &[(&'a Ident, &'a Ident)],
    ) -> syn::Result<Vec<(&'a Ident, &'a Ident)>> {
        let captured = self.names.iter().map(|wanted| {
            let found = arguments.iter().find(|(name, _)| name.unraw() == wanted);
            found.copied().ok_or_else(|| {
                let names: Vec<String> =
                    arguments.iter().map(|(name, _)| format!("`{{{}}}`", name.unraw())).collect();
                syn::Error::new(self.text.span(), no_argument(wanted, function, &names))
            })
        });
        captured.collect()
    }
}

fn no_argument(wanted: &str, function: &Ident, names: &[String]) -> String {
    if wanted == "self" {
        return "`fields` can't capture `self`, only named arguments.".to_owned();
    }
    match names {
        [] => {
            format!("`{wanted}` is not an argument of `{function}`, which has no named arguments.")
        }
        _ => format!(
            "`{wanted}` is not an argument of `{function}`; expected one of: {}.",
            names.join(", ")
        ),
    }
}

/// Returns the names that a format string captures, each once.
fn captured(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (brace, behind) = rest[at..].split_at(1);
        rest = behind;
        if let Some(behind) = rest.strip_prefix(brace) {
            // A doubled brace stands for the brace itself.
            rest = behind;
            continue;
        }
        let end = if brace == "{" { rest.find('}') } else { None };
        let Some(end) = end else {
            return Err(format!(
                "Unmatched `{brace}` in `fields`; write `{brace}{brace}` for the character itself."
            ));
        };
        let name = argument(&rest[..end])?;
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
        rest = &rest[end + 1..];
    }
    Ok(names)
}

/// Returns the name between a pair of braces.
fn argument(text: &str) -> Result<&str, String> {
    let (name, spec) = text.split_once(':').unwrap_or((text, ""));
    let name = name.trim();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(format!(
            "`{{{text}}}` doesn't name an argument: `fields` captures arguments by name, as in `{{id}}` \
             or `{{id:?}}`."
        ));
    }
    // Keywords are allowed: they are the names of raw identifiers.
    if Ident::parse_any.parse_str(name).is_err() {
        return Err(format!(
            "`{name}` isn't the name of an argument: `fields` captures arguments by name, as in `{{id}}`."
        ));
    }
    if takes_arguments(spec) {
        return Err(format!(
            "`{{{text}}}` takes its width or precision from an argument, which `fields` doesn't support."
        ));
    }
    Ok(name)
}

/// Returns `true` if a format specification has `width$`, `.precision$` or `.*`.
fn takes_arguments(spec: &str) -> bool {
    let mut chars = spec.chars();
    let first = chars.next();
    let is_fill = chars.next().is_some_and(|second| matches!(second, '<' | '^' | '>'));
    let spec = match first.filter(|_| is_fill) {
        Some(fill) => &spec[fill.len_utf8()..],
        None => spec,
    };
    spec.contains(['$', '*'])
}

#[cfg(test)]
mod tests {
    use super::captured;

    #[test]
    fn names_are_captured_once() {
        for (text, names) in [
            ("", &[][..]),
            ("no names, {{none}}", &[]),
            ("id={id}", &["id"]),
            ("{a}{b:?} {a:>5} { c }", &["a", "b", "c"]),
            ("{{{a}}}", &["a"]),
            ("{type:#?} {_x:08.3} {self}", &["type", "_x", "self"]),
            ("{a:*^9}{b:$>9}", &["a", "b"]),
        ] {
            assert_eq!(
                captured(text).as_deref(),
                Ok(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>().as_slice()),
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for (text, message) in [
            ("{}", "doesn't name an argument"),
            ("{:?}", "doesn't name an argument"),
            ("{0}", "doesn't name an argument"),
            ("{a.b}", "isn't the name of an argument"),
            ("{a b}", "isn't the name of an argument"),
            ("{f(1)}", "isn't the name of an argument"),
            ("{a", "Unmatched `{`"),
            ("{{a}", "Unmatched `}`"),
            ("a}", "Unmatched `}`"),
            ("{a:b$}", "width or precision"),
            ("{a:.*}", "width or precision"),
            ("{a:>.b$}", "width or precision"),
        ] {
            let found = captured(text).expect_err(text);
            assert!(found.contains(message), "{text}: {found}");
        }
    }
}
