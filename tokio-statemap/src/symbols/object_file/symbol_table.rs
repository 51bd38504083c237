//! The table of symbols of a program or library.

use object::{Object as _, ObjectSymbol as _};

use super::Elf;
use super::name::{demangle, split_last};

/// A function's symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    from: u64,
    to: u64,
    name: &'static str,
}

/// The functions' symbols, by their addresses.
#[derive(Debug, Default)]
pub(super) struct SymbolTable {
    all: Vec<Symbol>,
}

impl SymbolTable {
    pub(super) fn read(object: &Elf) -> Self {
        let symbols = object.symbols().chain(object.dynamic_symbols());
        let functions = symbols
            .filter(|symbol| symbol.is_definition() && symbol.kind() == object::SymbolKind::Text);
        let all = functions.filter_map(|symbol| {
            let (from, name) = (symbol.address(), symbol.name().ok()?);
            Some(Symbol { from, to: from.saturating_add(symbol.size()), name })
        });
        let mut all: Vec<_> = all.collect();
        all.sort_unstable();
        all.dedup();
        Self { all }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the symbol that contains an address. Functions with equal code may share an address: then the
    /// symbol of `function` is returned, if there is one.
    pub(super) fn at(&self, address: u64, function: Option<&str>) -> Option<&'static str> {
        let next = self.all.partition_point(|symbol| symbol.from <= address);
        let last = self.all.get(next.checked_sub(1)?)?;
        let first = self.all.partition_point(|symbol| symbol.from < last.from);
        let mut of_address = self.all[first..next].iter().filter(|symbol| address < symbol.to);
        let same = function.and_then(|function| {
            let wanted = without_types(function);
            of_address.clone().find(|symbol| {
                let path = demangle(symbol.name);
                let last = split_last(&path).map_or(&*path, |(_, last)| last);
                without_types(last) == wanted
            })
        });
        same.or_else(|| of_address.next_back()).map(|symbol| symbol.name)
    }

    /// Returns the crate of the program, which is the one with `main`.
    pub(super) fn program_crate(&self, file_name: &str) -> Option<String> {
        let by_file = crate_of_file(file_name);
        let mut found: Vec<_> = self
            .all
            .iter()
            .filter(|symbol| symbol.name.contains("4main"))
            .filter_map(|symbol| {
                let path = demangle(symbol.name);
                let (of, function) = path.split_once("::")?;
                (function == "main").then(|| of.to_owned())
            })
            .collect();
        crate::util::sort::sort(&mut found);
        found.dedup();
        match &found[..] {
            [only] => Some(only.clone()),
            _ => by_file,
        }
    }
}

fn without_types(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}

/// Returns the crate of a program's file: `shop_server` of `shop-server`, and of
/// `shop-server-0123456789abcdef`, as test programs are called.
fn crate_of_file(name: &str) -> Option<String> {
    let is_hash = |text: &str| text.len() == 16 && text.bytes().all(|b| b.is_ascii_hexdigit());
    let name = match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) => name,
        _ => name,
    };
    let is_name =
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    is_name.then(|| name.replace('-', "_"))
}

/// Returns the crate in which a symbol's function was written. Only Rust's newer mangling (v0) has it: it
/// names the place of an `impl` before its type.
pub(super) fn crate_of_symbol(symbol: &str) -> Option<&str> {
    let mut rest = symbol.strip_prefix("_R")?;
    loop {
        let kind = rest.chars().next()?;
        rest = &rest[kind.len_utf8()..];
        match kind {
            'N' => rest = rest.get(1..)?, // and what kind of name it is
            'I' => {}
            'X' | 'M' => rest = without_number(rest),
            'C' => break,
            _ => return None,
        }
    }
    rest = without_number(rest);
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let len: usize = rest[..digits].parse().ok()?;
    let name = rest[digits..].strip_prefix('_').unwrap_or(&rest[digits..]);
    name.get(..len)
}

/// Removes the number that tells equal names apart.
fn without_number(rest: &str) -> &str {
    rest.strip_prefix('s').and_then(|number| number.split_once('_')).map_or(rest, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(symbols: &[(u64, u64, &'static str)]) -> SymbolTable {
        let all = symbols.iter().map(|&(from, to, name)| Symbol { from, to, name });
        SymbolTable { all: all.collect() }
    }

    #[test]
    fn an_address_has_the_symbol_it_is_in() {
        let symbols = table(&[
            (10, 20, "_ZN4shop3sum17h8be724e5e68d5455E"),
            (10, 20, "_ZN4shop5total17h8be724e5e68d5455E"),
            (30, 30, "label"),
        ]);
        assert_eq!(symbols.at(9, None), None);
        assert_eq!(symbols.at(10, Some("sum<u8>")), Some("_ZN4shop3sum17h8be724e5e68d5455E"));
        assert_eq!(symbols.at(19, Some("other")), Some("_ZN4shop5total17h8be724e5e68d5455E"));
        assert_eq!(symbols.at(20, None), None);
        assert_eq!(symbols.at(30, None), None);
    }

    #[test]
    fn the_program_is_the_crate_of_its_main() {
        let main = (10, 20, "_ZN4shop4main17h8be724e5e68d5455E");
        let other = (30, 40, "_ZN3dep4main17h8be724e5e68d5455E");
        assert_eq!(table(&[main]).program_crate("server").as_deref(), Some("shop"));
        assert_eq!(table(&[main, other]).program_crate("shop").as_deref(), Some("shop"));
        let none = table(&[(10, 20, "_ZN4shop6inside4main17h8be724e5e68d5455E")]);
        assert_eq!(none.program_crate("my-shop-0123456789abcdef").as_deref(), Some("my_shop"));
        assert_eq!(none.program_crate("my shop"), None);
    }

    #[test]
    fn a_symbol_has_a_crate() {
        for (symbol, of) in [
            ("_RNvNtCsgStFX1CLNZX_4shop4work3nap", Some("shop")),
            (
                "_RNvXs_NtCs4fqI2P2rA04_5alloc6stringNtCsgStFX1CLNZX_4shop4CartNtB4_8ToString9to_string",
                Some("alloc"),
            ),
            (
                "_RINvNtCs4fqI2P2rA04_4core3ptr13drop_in_placeNtCsgStFX1CLNZX_4shop4CartE",
                Some("core"),
            ),
            ("_RNvYNtC4shop4CartNtB2_5Price5cents", None),
            ("_RNvC99_shop", None),
            ("_ZN4shop4work17h8be724e5e68d5455E", None),
            ("_R", None),
        ] {
            assert_eq!(crate_of_symbol(symbol), of, "{symbol}");
        }
    }
}
