//! A program whose threads have little stack: `small_stack observed|plain BYTES`.

use tests::programs::{small_stack, way};

fn main() {
    let is_observed = std::env::args().nth(1).is_some_and(|mode| mode == "observed");
    small_stack::run(is_observed, way().parse().unwrap());
    println!("the last line");
}
