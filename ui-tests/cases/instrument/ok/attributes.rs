//! Other attributes, of the function, of its arguments, and in its body.

#![deny(missing_docs, unfulfilled_lint_expectations)]

/// Documented.
///
/// In two paragraphs.
#[tokio_statemap::instrument]
#[must_use = "for a reason"]
pub async fn documented(
    #[cfg(unix)] a: u8,
    #[cfg(not(unix))] a: u16,
    #[cfg(any())] missing: Nothing,
    #[cfg(all())] b: u8,
    #[allow(unused_variables)] unused: u8,
    #[expect(unused_variables, reason = "for the test")] expected: u8,
    #[allow(unused_mut)] mut c: u8,
) -> u32 {
    u32::from(a) + u32::from(b) + u32::from(c)
}

#[tokio_statemap::instrument]
#[cfg(any())]
async fn not_there(a: Nothing) {}

#[cfg_attr(all(), tokio_statemap::instrument)]
#[inline]
#[deprecated]
#[doc(hidden)]
async fn conditional() {}

#[expect(unused_variables, dead_code, reason = "for the test")]
#[tokio_statemap::instrument]
async fn expected(a: u8) {}

#[tokio_statemap::instrument]
async fn inner(a: u8) {
    #![allow(unused_variables)]
    //! Documented inside.
    let b = 1;
}

#[tokio::main(flavor = "current_thread")]
#[allow(deprecated)]
async fn main() {
    println!("{}", documented(1, 2, 3, 4, 5).await);
    conditional().await;
    inner(1).await;
}
