//! The attributes of `tokio-statemap`, which re-exports them: depend on that crate, not on this one.
//!
//! [`macro@main`], [`macro@test`] and [`macro@instrument`] list their keys. The expansions name hidden
//! items of `tokio-statemap`, so the two crates only work in the same version. The first sentence
//! and the examples of each attribute's documentation are at its re-export: here, tests of the
//! examples would build all of `tokio-statemap` once more.

#[macro_use]
mod args;
mod expand;
mod impl_trait;
mod instrument;
mod item;
mod recording;

use proc_macro::TokenStream;

use self::args::Kind;

/// It replaces `#[tokio::main]`: every function that compiles with that attribute compiles with this
/// one, and the program's behaviour, output and exit status stay the same. The outputs are written
/// when the program ends, in whatever way.
///
/// # Keys
///
/// All keys are optional, may be in any order, and may be given once.
///
#[doc = docs_table!()]
///
/// A *path expression* is any expression that is `Into<PathBuf>`: a literal, `concat!(…)`,
/// `std::env::temp_dir().join("tasks.json")`. It is evaluated before the runtime is built, in the
/// function's scope: it may name the function's arguments and use `?`.
///
/// Without `tasks`, `workers`, `html`, `svg` and a path for `report`, the page
/// `{bin}.statemap.html` is written, or, without the feature `html`, `{bin}.tasks.json` and
/// `{bin}.workers.json`.
///
/// Each run has its own files. If the function is called again in the same process, or another
/// function has the same path, the second `statemap.html` is named `statemap.2.html`.
///
/// A *duration* is a string of a number and a unit (`ns`, `us`, `ms`, `s`, `m`, `h`): `"250us"`,
/// `"1.5s"`, `"2m"`.
///
/// `configure` is called last, so its settings win. It must not set runtime hooks: Tokio keeps one
/// closure per hook, so this would replace the hooks that record. Use `hooks` instead.
///
/// # Without the feature `record`
///
/// The keys are still checked, and the attribute expands to exactly `#[tokio::main(…)]` with
/// Tokio's keys. `configure` and `hooks` still apply, to a runtime that is otherwise built as by
/// `#[tokio::main]`. Path expressions are not compiled.
#[proc_macro_attribute]
pub fn main(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(args.into(), item.into(), Kind::Main, Features::ON).into()
}

/// It replaces `#[tokio::test]` as [`main`](macro@main) replaces `#[tokio::main]`, and takes the same
/// keys. `flavor` is `"current_thread"` unless set, as in `#[tokio::test]`.
///
/// # Limits
///
/// With `max_poll`, the test fails if a poll held a worker for longer than that; with `max_ready`, if
/// a task was ready for longer before it was polled. It panics with the report's verdict.
///
/// Time that the machine took doesn't count, as far as it is known, and neither do polls on threads
/// that are no workers, such as those of the test's own future with `flavor = "multi_thread"`. The
/// test also fails if a limit can't be checked, for example because tasks are not recorded. A panic
/// of the test itself takes precedence over the limits, and the limits over an error that it returns.
/// With `TOKIO_STATEMAP=0`, and without the feature `record`, limits are not checked.
#[proc_macro_attribute]
pub fn test(args: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(args.into(), item.into(), Kind::Test, Features::ON).into()
}

/// It applies to an `async fn`: a free function, or one in an `impl`, or in a `trait` if it has a
/// body. It also applies to a function that ends in `async { … }` or `Box::pin(async { … })`, and so
/// to methods under `#[async_trait]`. If another attribute removes the `async`, as `#[tokio::main]`
/// does, put `instrument` above it.
///
/// The function otherwise stays the same: its future is `Send` as before, arguments are dropped in
/// the same order, and rustc reports the same errors at the same places.
///
/// # Keys
///
/// Both keys are optional.
///
/// | key | value | meaning | default |
/// | --- | --- | --- | --- |
/// | `name` | string | the name to show for the function | its path |
/// | `fields` | format string | the arguments to show for a call in progress | none |
///
/// `fields` captures arguments of the function by name. They are cloned at the call (a `&str` becomes
/// a `String`), and formatted only if the place where a task waits is shown. They must be `Clone`,
/// `Send`, `Sync` and, apart from one reference around them, `'static`. Arguments that are patterns
/// have no name.
///
/// # Without the feature `record`
///
/// The keys are still checked, and the attribute expands to the unchanged function.
#[proc_macro_attribute]
pub fn instrument(args: TokenStream, item: TokenStream) -> TokenStream {
    instrument::attribute(args.into(), item.into(), Features::ON).into()
}

/// The features of the library that the attribute is expanded for.
#[derive(Clone, Copy)]
struct Features {
    /// The library records. Without it the expansion is Tokio's.
    record: bool,
    /// The library writes the page.
    html: bool,
    /// The library writes the SVG.
    svg: bool,
    /// The library keeps a black box.
    black_box: bool,
    /// The library writes the page of a process that was killed.
    recover: bool,
}

impl Features {
    /// The features that this crate is built with.
    const ON: Self = Self {
        record: cfg!(feature = "record"),
        html: cfg!(feature = "html"),
        svg: cfg!(feature = "svg"),
        black_box: cfg!(feature = "black-box"),
        recover: cfg!(feature = "recover"),
    };

    /// Returns `true` if the library has the feature of this name.
    fn have(self, feature: &str) -> bool {
        match feature {
            "html" => self.html,
            "svg" => self.svg,
            "black-box" => self.black_box,
            "recover" => self.recover,
            _ => self.record,
        }
    }
}
