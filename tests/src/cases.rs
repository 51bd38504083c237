//! How many random programs a test tries.

/// `all` with `STATEMAP_TESTS=all`, which `.ci/run` sets; else a tenth of them.
pub fn cases(all: u32) -> u32 {
    match std::env::var_os("STATEMAP_TESTS") {
        Some(value) if value == "all" => all,
        _ => all / 10,
    }
}
