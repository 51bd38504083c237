//! An address that stands for the name of a function.

/// An address in place of an unknown function name: `0x1234 of shop (build id abcd)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(feature = "symbols", feature = "read")),
    allow(dead_code, reason = "nothing looks them up")
)]
pub(crate) struct Address<'a> {
    /// The address in its file.
    pub(crate) address: u64,
    pub(crate) build_id: &'a str,
}

/// Returns a placeholder for the name of the function at an address of a file.
#[cfg(feature = "symbols")]
pub(crate) fn name(address: u64, file: &str, build_id: Option<&str>) -> String {
    match build_id {
        Some(id) => format!("{address:#x} of {file} (build id {id})"),
        None => format!("{address:#x} of {file}"),
    }
}

impl<'a> Address<'a> {
    /// Parses a function's name that is an address.
    pub(crate) fn parse(function: &'a str) -> Option<Self> {
        let (address, rest) = parts(function)?;
        // The name of a file may contain anything.
        let build_id = rest.rsplit_once(" (build id ")?.1.strip_suffix(')')?;
        let is_hex =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_address = is_hex(address) && is_hex(build_id);
        let address = u64::from_str_radix(address, 16).ok().filter(|_| is_address)?;
        Some(Self { address, build_id })
    }
}

/// Returns the file, with its build id if it has one, of a function whose name is an address.
pub(crate) fn file_of_address(function: &str) -> Option<&str> {
    parts(function).map(|(_, file)| file)
}

fn parts(function: &str) -> Option<(&str, &str)> {
    function.strip_prefix("0x")?.split_once(" of ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_with_a_build_id_is_one() {
        let found = Address::parse("0x1f2e of shop (1) (build id 00ff)");
        assert_eq!(found, Some(Address { address: 0x1f2e, build_id: "00ff" }));
        for other in [
            "",
            "0x1f2e",
            "0x of a (build id 00ff)",
            "0x+1 of a (build id 00ff)",
            "0x1 of a (build id )",
            "0x1 of a (build id \u{1b}[2J)",
            "0x1 of a (build id 00ff",
            "0x10000000000000000 of a (build id 00ff)",
            "shop::render of a (build id 00ff)",
            "0x1f2e (build id 00ff)",
        ] {
            assert_eq!(Address::parse(other), None, "{other}");
        }
    }
}
