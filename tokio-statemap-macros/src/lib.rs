//! The attributes of `tokio-statemap`, which re-exports them: depend on that crate, not on this one.
//!
//! [`macro@main`], [`macro@test`] and [`macro@instrument`] list the keys. What they expand to names hidden items of
//! `tokio-statemap`, so that the two crates only work as the exact pair they were released as. The first sentence of each
//! one's documentation, and its examples, are where they are re-exported: tests of examples here would build all of
//! `tokio-statemap` once more.

#[macro_use]
mod args;
mod expand;
mod impl_trait;
mod instrument;
mod item;
mod settings;

use proc_macro::TokenStream;

use self::args::Kind;

/// It takes the place of `#[tokio::main]`: what compiles under that compiles under this, and the
/// program's own behaviour, output and exit status stay what they were. However the program ends,
/// the outputs are written then.
///
/// # Keys
///
/// All are optional, in any order, each at most once.
///
#[doc = docs_table!()]
///
/// A *path expression* is any expression that is `Into<PathBuf>`: a literal, `concat!(…)`,
/// `std::env::temp_dir().join("tasks.json")`. It is evaluated before the runtime is built, in the
/// function's own scope: it may name the function's arguments and use `?`.
///
/// If none of `tasks`, `workers`, `html`, `svg` and a path for `report` is given, the page
/// `{bin}.statemap.html` is written; without the feature `html`, `{bin}.tasks.json` and
/// `{bin}.workers.json`.
///
/// Each run has files of its own: where the function is called again in the same process, or another
/// function has the same path, the second `statemap.html` is `statemap.2.html`.
///
/// A *duration* is a string of a number and a unit (`ns`, `us`, `ms`, `s`, `m`, `h`): `"250us"`,
/// `"1.5s"`, `"2m"`.
///
/// `configure` is called last, so what it sets wins. It must not set the runtime hooks, of which
/// Tokio keeps one closure each: that would replace those that record. `hooks` is for them.
///
/// # Without the feature `record`
///
/// The keys are still checked, and the attribute expands to exactly `#[tokio::main(…)]` with
/// Tokio's keys. `configure` and `hooks` are the program's own, so they still apply: on a runtime
/// that otherwise is `#[tokio::main]`'s. Path expressions aren't compiled then.
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(args.into(), item.into(), Kind::Main, Features::ON).into()
}

/// It is to `#[tokio::test]` what [`main`](macro@main) is to `#[tokio::main]`, and takes the same
/// keys. `flavor` is `"current_thread"` unless set, as in `#[tokio::test]`.
///
/// With `max_poll` or `max_ready` the test fails where a poll held a worker for longer than that, or a task was ready
/// for longer before it was polled: it panics with the report's verdict. What the machine took doesn't count, where that
/// is known; nor do polls on threads that are no workers, such as those of the test's own future with `flavor =
/// "multi_thread"`. What can't be judged fails, too: where tasks are not recorded, say. A test that panics keeps its
/// own panic; what it returns, be it an error, gives way to the limit's. With `TOKIO_STATEMAP=0`, and without the feature `record`, nothing
/// is judged.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(args.into(), item.into(), Kind::Test, Features::ON).into()
}

/// It goes on an `async fn`: free, in an `impl`, or in a `trait` if it has a body. It also goes on a
/// function that ends in `async { … }` or in `Box::pin(async { … })`, and so on the methods under
/// `#[async_trait]`. If another attribute takes the `async` away (`#[tokio::main]`), put it above that one.
///
/// The function does what it did: the same is `Send`, arguments are dropped in the same order, and rustc's
/// errors in it are the same, at the same place.
///
/// # Keys
///
/// Both are optional.
///
/// | key | value | meaning | default |
/// | --- | --- | --- | --- |
/// | `name` | string | what the function is called | its path |
/// | `fields` | format string | the arguments that are shown of a call that goes on | none |
///
/// `fields` captures arguments of the function by name. They are cloned when it is called (a `&str` becomes
/// a `String`), and only formatted if someone looks at where a task waits. So they must be `Clone`, `Send`,
/// `Sync` and, but for one reference around them, `'static`. Arguments that are patterns have no name.
///
/// # Without the feature `record`
///
/// The keys are still checked, and the attribute expands to the function as it is.
#[proc_macro_attribute]
pub fn instrument(args: TokenStream, item: TokenStream) -> TokenStream {
    instrument::attribute(args.into(), item.into(), Features::ON).into()
}

/// What the library that is expanded for can do.
#[derive(Clone, Copy)]
struct Features {
    /// Record. Without it the expansion is Tokio's.
    record: bool,
    /// Write the page.
    html: bool,
}

impl Features {
    /// Those that this crate is built with.
    const ON: Self = Self { record: cfg!(feature = "record"), html: cfg!(feature = "html") };

    /// Whether the library has the feature of this name.
    fn have(self, feature: &str) -> bool {
        match feature {
            "html" => self.html,
            _ => self.record,
        }
    }
}
