//! Awaits in every way in which an async fn can be written.
//!
//! The program isn't run; tests read its debug information. A comment after a line names what is awaited there.

mod ways;

use ways::Work as _;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    ways::one_after_the_other().await; // awaits awaits::ways::one_after_the_other
    ways::in_loops(&[1, 2]).await; // awaits awaits::ways::in_loops
    ways::joined().await; // awaits awaits::ways::joined
    ways::selected().await; // awaits awaits::ways::selected
    let _ = ways::tried().await; // awaits awaits::ways::tried
    ways::boxed().await; // awaits awaits::ways::boxed
    ways::recursive(3).await; // awaits awaits::ways::recursive
    ways::generic(ways::leaf(1)).await; // awaits awaits::ways::generic
    ways::generic(tokio::task::yield_now()).await; // awaits awaits::ways::generic
    ways::generic(ways::ByHand).await; // awaits awaits::ways::generic
    ways::with_closure(async |n| {
        ways::leaf(n).await; // awaits awaits::ways::leaf
    })
    .await; // awaits awaits::ways::with_closure
    ways::through_a_trait(ways::Fast).await; // awaits awaits::ways::through_a_trait
    ways::through_a_trait(ways::Slow).await; // awaits awaits::ways::through_a_trait
    ways::Slow.own().await; // awaits awaits::ways::Slow::own
    ways::Fast.twice().await; // awaits awaits::ways::Work::twice
    ways::in_arms(Some(3)).await; // awaits awaits::ways::in_arms
    ways::within_arguments().await; // awaits awaits::ways::within_arguments
    ways::wrapped().await; // awaits awaits::ways::wrapped
    ways::never().await; // awaits awaits::ways::never
    let task = tokio::spawn(async {
        ways::leaf(1).await; // awaits awaits::ways::leaf
    });
    task.await.unwrap(); // awaits tokio::runtime::task::join::JoinHandle<()>
}
