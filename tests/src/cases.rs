//! The number of random programs that a test tries.

/// Returns `all` with `STATEMAP_TESTS=all`, which `.ci/run` sets, or else a tenth of it.
pub fn cases(all: u32) -> u32 {
    match std::env::var_os("STATEMAP_TESTS") {
        Some(value) if value == "all" => all,
        _ => all / 10,
    }
}
