//! Types with an `impl Trait` in them.

use syn::{GenericArgument, PathArguments, ReturnType, Type};

/// Whether there is an `impl Trait` in `ty`, wherever `#[tokio::main]` looks for one (which isn't
/// behind `dyn`).
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

#[cfg(test)]
mod tests {
    use super::is_in;

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
}
