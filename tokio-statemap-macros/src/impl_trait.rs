//! Types with an `impl Trait` in them.

use syn::{GenericArgument, PathArguments, ReturnType, Token, Type, TypeInfer};

/// Returns `true` if `ty` contains an `impl Trait` in a place where `#[tokio::main]` looks for one,
/// which excludes `dyn`.
pub(crate) fn is_in(ty: &Type) -> bool {
    match ty {
        Type::ImplTrait(_) => true,
        Type::Array(ty) => is_in(&ty.elem),
        Type::Group(ty) => is_in(&ty.elem),
        Type::Paren(ty) => is_in(&ty.elem),
        Type::Ptr(ty) => is_in(&ty.elem),
        Type::Reference(ty) => is_in(&ty.elem),
        Type::Slice(ty) => is_in(&ty.elem),
        Type::Tuple(ty) => ty.elems.iter().any(is_in),
        Type::Path(ty) => {
            ty.path.segments.last().is_some_and(|segment| is_in_arguments(&segment.arguments))
        }
        _ => false,
    }
}

fn is_in_arguments(arguments: &PathArguments) -> bool {
    match arguments {
        PathArguments::None => false,
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().any(|argument| match argument {
                GenericArgument::Type(ty) => is_in(ty),
                GenericArgument::AssocType(argument) => is_in(&argument.ty),
                _ => false,
            })
        }
        PathArguments::Parenthesized(arguments) => {
            arguments.inputs.iter().any(|input| is_in(&input.ty))
                || matches!(&arguments.output, ReturnType::Type(_, ty) if is_in(ty))
        }
    }
}

/// Returns `ty` with `_` in place of each `impl Trait`, as is valid for the type of a variable.
///
/// It descends into tuples and the arguments of a path's last segment. No other type that a
/// function returns by value has `impl Trait` in a place where `_` is valid.
pub(crate) fn erased(ty: &Type) -> Type {
    let mut ty = ty.clone();
    erase(&mut ty);
    ty
}

fn erase(ty: &mut Type) {
    match ty {
        Type::ImplTrait(found) => {
            let underscore_token = Token![_](found.impl_token.span);
            *ty = Type::Infer(TypeInfer { attrs: Vec::new(), underscore_token });
        }
        Type::Array(ty) => erase(&mut ty.elem),
        Type::Group(ty) => erase(&mut ty.elem),
        Type::Paren(ty) => erase(&mut ty.elem),
        Type::Ptr(ty) => erase(&mut ty.elem),
        Type::Reference(ty) => erase(&mut ty.elem),
        Type::Slice(ty) => erase(&mut ty.elem),
        Type::Tuple(ty) => ty.elems.iter_mut().for_each(erase),
        Type::Path(ty) => {
            let Some(last) = ty.path.segments.last_mut() else { return };
            let PathArguments::AngleBracketed(arguments) = &mut last.arguments else { return };
            for argument in &mut arguments.args {
                if let GenericArgument::Type(ty) = argument {
                    erase(ty);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{erased, is_in};

    #[test]
    fn at_any_depth() {
        for ty in [
            "impl Send",
            "Result<impl Send, ()>",
            "Stream<Item = impl Send>",
            "(u8, &'static [impl Send; 2])",
            "*const [(impl Send)]",
        ] {
            let parsed = syn::parse_str(ty).unwrap_or_else(|err| panic!("{ty}: {err}"));
            assert!(is_in(&parsed), "{ty}");
        }
        for ty in ["()", "!", "Result<(), Box<dyn Send>>", "fn(u8) -> u8"] {
            assert!(!is_in(&syn::parse_str(ty).unwrap()), "{ty}");
        }
    }

    #[test]
    fn it_is_erased() {
        for (ty, expected) in [
            ("impl Send", "_"),
            ("Result<impl Send + 'static, Box<dyn Error>>", "Result<_, Box<dyn Error>>"),
            ("(u8, &'a [impl Send; 2])", "(u8, &'a [_; 2])"),
            ("std::io::Result<(impl Send)>", "std::io::Result<(_)>"),
            ("Box<dyn Fn(u8) -> u8>", "Box<dyn Fn(u8) -> u8>"),
        ] {
            let expected: syn::Type = syn::parse_str(expected).unwrap();
            let found = erased(&syn::parse_str(ty).unwrap());
            assert_eq!(quote::quote!(#found).to_string(), quote::quote!(#expected).to_string());
        }
    }
}
