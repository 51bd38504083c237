//! The table of symbols of a program or library.

use object::elf::STT_FUNC;
use object::read::elf::Sym as _;

use super::Elf;
use super::name::{demangle, split_last};
use crate::util::sort::{self, order_of};

/// A function's symbol.
#[derive(Debug)]
struct Symbol {
    from: u64,
    to: u64,
    name: &'static str,
}

/// The functions' symbols.
#[derive(Debug, Default)]
pub(super) struct SymbolTable {
    all: Vec<Symbol>,
    /// The indices of the symbols, in the order of their addresses.
    order: Vec<usize>,
}

impl SymbolTable {
    pub(super) fn read(object: &Elf) -> Self {
        let endian = object.endian();
        let mut all = Vec::new();
        for table in [object.elf_symbol_table(), object.elf_dynamic_symbol_table()] {
            for symbol in table.iter() {
                if symbol.st_type() != STT_FUNC || !symbol.is_definition(endian) {
                    continue;
                }
                let name = table.symbol_name(endian, symbol);
                if let Some(name) = name.ok().and_then(|name| std::str::from_utf8(name).ok()) {
                    let from = symbol.st_value(endian);
                    all.push(Symbol {
                        from,
                        to: from.saturating_add(symbol.st_size(endian)),
                        name,
                    });
                }
            }
        }
        Self::new(all)
    }

    fn new(all: Vec<Symbol>) -> Self {
        let addresses: Vec<_> = all.iter().map(|symbol| symbol.from).collect();
        let mut order = order_of(&addresses);
        // A few functions have equal code. They are sorted so that their order doesn't depend on that of the file.
        for same in order.chunk_by_mut(|&a, &b| addresses[a] == addresses[b]) {
            if same.len() > 1 {
                sort::by(same, |&a, &b| {
                    let (a, b): (&Symbol, &Symbol) = (&all[a], &all[b]);
                    a.to.cmp(&b.to).then_with(|| a.name.cmp(b.name))
                });
            }
        }
        Self { all, order }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the symbol that contains an address. Functions with equal code may share an address: then the
    /// symbol of `function` is returned, if there is one.
    pub(super) fn at(&self, address: u64, function: Option<&str>) -> Option<&'static str> {
        let next = self.order.partition_point(|&at| self.all[at].from <= address);
        let last = &self.all[*self.order.get(next.checked_sub(1)?)?];
        let first = self.order.partition_point(|&at| self.all[at].from < last.from);
        let mut found = None;
        for &at in &self.order[first..next] {
            let symbol = &self.all[at];
            if address >= symbol.to {
                continue;
            }
            found = Some(symbol.name);
            if let Some(function) = function {
                let path = demangle(symbol.name);
                let last = split_last(&path).map_or(&*path, |(_, last)| last);
                if without_types(last) == without_types(function) {
                    break;
                }
            }
        }
        found
    }

    /// Returns the crate of the program, which is the one with `main`.
    pub(super) fn program_crate(&self, file_name: &str) -> Option<String> {
        let by_file = crate_of_file(file_name);
        let mut found: Option<String> = None;
        for symbol in &self.all {
            if !is_of_main(symbol.name) {
                continue;
            }
            let path = demangle(symbol.name);
            let Some((of, "main")) = path.split_once("::") else { continue };
            match &found {
                None => found = Some(of.to_owned()),
                Some(other) if other == of => {}
                Some(_) => return by_file,
            }
        }
        found.or(by_file)
    }
}

/// Returns whether a symbol ends with the name `main`, in either of Rust's manglings. In the older one a hash follows
/// the name, and link-time optimisation may add another one.
fn is_of_main(symbol: &str) -> bool {
    const HASH: usize = "17h8be724e5e68d5455E".len();
    let name = symbol.split_once('.').map_or(symbol, |(name, _)| name).as_bytes();
    let without_hash = name.split_at_checked(name.len().wrapping_sub(HASH)).map(|(name, _)| name);
    name.ends_with(b"4main") || without_hash.is_some_and(|name| name.ends_with(b"4main"))
}

fn without_types(name: &str) -> &str {
    name.split_once('<').map_or(name, |(name, _)| name)
}

/// Returns the crate of a program's file: `shop_server` for `shop-server`, and for `shop-server-0123456789abcdef`,
/// which is how test programs are named.
fn crate_of_file(name: &str) -> Option<String> {
    let is_hash = |b: &[u8]| b.len() == 16 && b.iter().all(u8::is_ascii_hexdigit);
    let name = match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash.as_bytes()) => name,
        _ => name,
    };
    let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
    let is_name = !name.is_empty() && name.as_bytes().iter().all(is_part);
    is_name.then(|| name.replace('-', "_"))
}

/// Returns the crate in which a symbol's function was written. Only Rust's newer mangling (v0) has it, as it names the
/// place of an `impl` before its type.
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
    let len: u64 = rest[..digits].parse().ok()?;
    let name = rest[digits..].strip_prefix('_').unwrap_or(&rest[digits..]);
    name.get(..usize::try_from(len).ok()?)
}

/// Removes the number that distinguishes equal names.
fn without_number(rest: &str) -> &str {
    rest.strip_prefix('s').and_then(|number| number.split_once('_')).map_or(rest, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(symbols: &[(u64, u64, &'static str)]) -> SymbolTable {
        SymbolTable::new(
            symbols.iter().map(|&(from, to, name)| Symbol { from, to, name }).collect(),
        )
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
        for name in [
            "_RNvC4shop4main",
            "_RNvC4shop4main.llvm.1234",
            "_ZN4shop4main17h8be724e5e68d5455E.llvm.12",
        ] {
            assert_eq!(
                table(&[(10, 20, name)]).program_crate("x").as_deref(),
                Some("shop"),
                "{name}"
            );
        }
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
