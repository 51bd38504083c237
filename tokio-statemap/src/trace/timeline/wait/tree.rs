//! Builds the tree of functions that is shown from the chains captured in a poll.

use std::sync::Arc;

use super::{AwaitFrame, Wait};
use crate::symbols::{FrameOrigin, StackFrame, without_async};

/// A function of a chain, and the place that it is called from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) frame: StackFrame,
    /// The address of the function. Functions inlined at one place share it.
    pub(super) address: u64,
    /// A hash of the callers' addresses, which identifies the call. Two calls of one function are
    /// two futures.
    pub(super) call: u64,
    /// The same without the address of the function, if it is inlined into one that may poll several futures.
    pub(super) inlined_in: Option<u64>,
    /// The index among the instrumented calls of the wait, if it is one.
    pub(super) instrumented: Option<u16>,
    /// The name given to this call.
    pub(super) name: Option<Arc<str>>,
}

/// An instrumented function, as the program named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) file: &'a str,
    pub(super) line: u32,
}

impl Located {
    fn is_async(&self) -> bool {
        self.frame.is_async() || self.frame.is_nameless_async()
    }

    fn is_same_place(&self, other: &Self) -> bool {
        self.frame == other.frame
    }

    fn is_same_call(&self, other: &Self) -> bool {
        self.call == other.call && self.is_same_place(other)
    }
}

/// Reduces a chain, outermost function first, to the functions that a reader would name.
///
/// A reader would name the program's own functions, async functions, and the first function of each dependency that is
/// called. The functions that box, pin and join futures are left out. `calls` are the instrumented calls of the chain
/// in order, and `first_call` the index of the first of them among those of the wait.
pub(super) fn essential(chain: &[Located], calls: &[Call<'_>], first_call: u16) -> Vec<Located> {
    let mut essential = Essential::default();
    let mut entered = 0;
    let call = |nth: usize| Some((first_call + nth as u16, *calls.get(nth)?));
    for located in chain {
        essential.path.go_on(located.address);
        if is_instrumented(&located.frame) {
            essential.enter(call(entered));
            entered += 1;
        } else {
            essential.add(located.clone());
        }
    }
    essential.enter(None);
    if essential.kept.is_empty() {
        // Without a known stack, only the instrumented calls are shown.
        for nth in entered..calls.len() {
            essential.enter(call(nth));
        }
        essential.enter(None);
    }
    essential.kept
}

/// The functions kept so far.
#[derive(Default)]
struct Essential<'a> {
    kept: Vec<Located>,
    path: Path,
    /// `true` if the last one belongs to a dependency, whose internals are left out.
    is_inside: bool,
    /// The instrumented call whose own function comes next.
    call: Option<(u16, Call<'a>)>,
}

/// The addresses on the path to a function.
#[derive(Default)]
struct Path {
    /// A hash of the addresses before the current one.
    before: u64,
    address: Option<u64>,
    /// `true` if a function at the current address was left out that may call several futures.
    is_split: bool,
}

impl Path {
    fn go_on(&mut self, address: u64) {
        match self.address.replace(address) {
            Some(before) if before != address => {
                self.before = mixed(self.before, before);
                self.is_split = false;
            }
            _ => {}
        }
    }

    /// Returns the hash that identifies the function that the current one is inlined into, if that may poll several futures.
    fn inlined_in(&self) -> Option<u64> {
        self.is_split.then_some(self.before)
    }

    /// Returns the hash that identifies the call of the current function.
    fn call(&self) -> u64 {
        match self.address {
            Some(address) if self.is_split => mixed(self.before, address),
            _ => self.before,
        }
    }
}

impl<'a> Essential<'a> {
    /// Begins an instrumented call. A previous call without a function of its own is added by its
    /// name.
    fn enter(&mut self, call: Option<(u16, Call<'a>)>) {
        if let Some((index, function)) = std::mem::replace(&mut self.call, call) {
            let frame = StackFrame {
                function: function.name.into(),
                file: Some(function.file.into()),
                line: Some(function.line),
                origin: FrameOrigin::Program,
            };
            let (address, call) = (self.path.address.unwrap_or_default(), self.path.call());
            let instrumented = Some(index);
            let inlined_in = self.path.inlined_in();
            let name = None;
            self.kept.push(Located { frame, address, call, inlined_in, instrumented, name });
            self.is_inside = false;
        }
    }

    fn add(&mut self, mut located: Located) {
        let is_of_last = self.kept.last().is_some_and(|last| is_closure_of(last, &located));
        let keeps = match located.frame.origin {
            _ if is_of_last && self.call.is_none() || is_plumbing(&located.frame) => false,
            FrameOrigin::Program => true,
            FrameOrigin::Dependency => !self.is_inside || located.is_async(),
            FrameOrigin::Runtime => !self.is_inside,
            FrameOrigin::Std | FrameOrigin::System => false,
        };
        if !keeps {
            self.path.is_split |= is_of_last;
            self.tell_more(&located);
            return;
        }
        (located.call, located.inlined_in) = (self.path.call(), self.path.inlined_in());
        located.frame.function = future_of(&located.frame.function).into();
        match self.call {
            Some((index, function)) if located.is_async() => {
                self.call = None;
                located.instrumented = Some(index);
                // The attribute's `async fn` only awaits the call of its body.
                let is_same = located.frame.function.strip_prefix("async ") == Some(function.name);
                if let Some(last) = self.kept.last() {
                    if is_same && last.frame.function == located.frame.function
                        || is_unnamed_at(&last.frame, &function)
                    {
                        located.call = last.call;
                        self.kept.pop();
                    }
                }
                if !is_same {
                    located.name = Some(function.name.into());
                }
            }
            Some(_) => self.enter(None),
            None => {}
        }
        self.is_inside = located.frame.origin != FrameOrigin::Program;
        if located.frame.origin == FrameOrigin::Runtime {
            if located.frame.is_nameless_async() {
                if let Some(module) = located.frame.file.as_deref().and_then(module_of) {
                    located.frame.function = format!("an async fn of {module}").into();
                }
            }
            // A line within Tokio doesn't help the reader.
            (located.frame.file, located.frame.line) = (None, None);
        }
        self.kept.push(located);
    }
}

/// An async function of a bounded channel, inlined without its name.
const OF_CHANNEL: &str = "an async fn of tokio::sync::mpsc::bounded";

/// The name of an inlined async function of a bounded channel that waits for room.
pub(crate) const SENDER: &str = "tokio::sync::mpsc::bounded::Sender";

/// The name of an async function of a `OnceCell` that waits while another task fills the cell.
pub(crate) const FILLED_CELL: &str = "tokio::sync::once_cell::OnceCell";

/// The module of `OnceCell`, with a `::` or without a name behind it.
const OF_CELL: &str = "tokio::sync::once_cell";

impl Essential<'_> {
    /// Makes the name of the last function tell more, by a function that it calls. Senders of a channel wait for a permit, and
    /// nothing else tells them from the receiver. The first one who asks a cell waits for the value, and all others for a permit.
    fn tell_more(&mut self, called: &Located) {
        let Some(last) = self.kept.last_mut() else { return };
        let name = without_async(&last.frame.function);
        let (is_channel, is_cell) =
            (name == OF_CHANNEL, name.trim_start_matches("an async fn of ").starts_with(OF_CELL));
        if !is_channel && !is_cell {
            return;
        }
        let is_of = |path: &str, file: &str| {
            let of = &called.frame;
            of.function.contains(path) || of.file.as_deref().is_some_and(|of| of.ends_with(file))
        };
        let is_permit = is_of("tokio::sync::batch_semaphore::", "/sync/batch_semaphore.rs");
        let is_message = is_of("tokio::sync::mpsc::chan::Rx", "/sync/mpsc/chan.rs");
        last.frame.function = match (is_permit, is_cell) {
            (true, true) => FILLED_CELL.into(),
            (true, false) => SENDER.into(),
            // A sender may also wait until the channel is closed.
            (false, false) if is_message && !called.is_async() => {
                "tokio::sync::mpsc::bounded::Receiver".into()
            }
            _ => return,
        };
    }
}

/// The future that polls an instrumented call.
const INSTRUMENTED: &str = "tokio_statemap::recorder::functions::instrumented::Instrumented";

/// Returns `true` for the poll of an instrumented call, but not for a function that only has such a
/// call among its type parameters.
fn is_instrumented(frame: &StackFrame) -> bool {
    frame.origin == FrameOrigin::Runtime
        && (frame.function.trim_start_matches('<').starts_with(INSTRUMENTED)
            || frame.file.as_deref().is_some_and(|f| f.ends_with("/functions/instrumented.rs")))
}

/// Returns `true` for an async function without a name that begins where the function of `call`
/// does.
fn is_unnamed_at(frame: &StackFrame, call: &Call<'_>) -> bool {
    frame.is_nameless_async()
        && frame.line == Some(call.line)
        && frame.file.as_deref().is_some_and(|file| file.ends_with(call.file))
}

/// Returns `true` if it is a closure in `last`, such as that of a `join!` or `select!`: it has the
/// name of the enclosing function or the line of the macro.
fn is_closure_of(last: &Located, located: &Located) -> bool {
    let (a, b) = (&last.frame, &located.frame);
    a.function.strip_prefix("async ") == Some(&*b.function)
        || !last.is_async() && *a.function == *future_of(&b.function)
        || last.is_async()
            && !located.is_async()
            && a.line.is_some()
            && (&a.file, a.line) == (&b.file, b.line)
}

fn mixed(hash: u64, address: u64) -> u64 {
    (hash.rotate_left(7) ^ address).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Returns `true` for this crate's functions and for those that combine futures.
fn is_plumbing(frame: &StackFrame) -> bool {
    const OF: [&str; 4] =
        ["tokio_statemap::", "tokio::future::", "tokio::task::coop::", "tokio::macros::"];
    let is_of = |of: &str| frame.function.trim_start_matches(['<', '&']).starts_with(of);
    match frame.origin {
        FrameOrigin::Runtime => OF.iter().any(|of| is_of(of)),
        // Tokio wraps its own futures in these if its feature `tracing` is on.
        _ => is_of("tracing::instrument::Instrumented<"),
    }
}

/// Returns the future that is polled by `function`: `shop::Cart` for `<shop::Cart as
/// Future>::poll`.
fn future_of(function: &str) -> &str {
    let of_trait = function.strip_suffix(" as core::future::future::Future>::poll");
    of_trait.and_then(|of| of.strip_prefix('<')).unwrap_or(function)
}

/// Returns the module of a dependency's file: `tokio::sync::mpsc` for
/// `…/tokio-1.54.1/src/sync/mpsc/mod.rs`.
fn module_of(file: &str) -> Option<String> {
    let (package, path) = file.rsplit_once("/src/")?;
    let package = package.rsplit('/').next()?;
    let name = match package.rsplit_once('-') {
        Some((name, version)) if version.as_bytes().first().is_some_and(u8::is_ascii_digit) => name,
        _ => package,
    };
    let path = path.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let name = name.replace('-', "_");
    Some(if path == "lib" { name } else { format!("{name}::{}", path.replace('/', "::")) })
}

/// Builds the tree of several chains, each with its outermost function first, in the order of
/// capture.
pub(super) fn tree(mut chains: Vec<Vec<Located>>) -> Wait {
    // An await captured early in a poll may be over by the end of the poll.
    let mut at = 0;
    while at < chains.len() {
        let is_over = chains[at + 1..].iter().any(|later| is_before(&chains[at], later));
        match is_over {
            true => drop(chains.remove(at)),
            false => at += 1,
        }
    }
    let mut frames = Vec::new();
    for chain in &chains {
        add(&mut frames, chain);
    }
    Wait { frames: frames_of(frames) }
}

/// Returns `true` if one async function awaits both: it continues to `later` only when `earlier` is
/// over.
fn is_before(earlier: &[Located], later: &[Located]) -> bool {
    let shorter = earlier.len().min(later.len());
    let Some(at) = (0..shorter).find(|&at| !earlier[at].is_same_call(&later[at])) else {
        return false;
    };
    let (a, b) = (&earlier[at], &later[at]);
    // Either the function itself is at another line now, or it awaits another future at the same
    // line. A function that polls several futures at once calls them from different places or isn't
    // `async`.
    let is_elsewhere = a.is_async() && b.is_async() && a.frame.function == b.frame.function;
    let is_next = at > 0 && earlier[at - 1].is_async();
    // Each line of a function has an address of its own in the one that it is inlined into. A timer's waker is cloned even if its
    // time has come, so the function most likely went on from there. Functions without a name may be different ones.
    let is_inlined = a.inlined_in.is_some() && a.inlined_in == b.inlined_in;
    let has_name = a.frame.is_async();
    let is_timer = earlier.last().is_some_and(|leaf| leaf.frame.function.contains("::time::"));
    let is_other_line = is_elsewhere && has_name && is_timer && a.frame.line != b.frame.line;
    a.call == b.call && (is_elsewhere || is_next) || is_inlined && is_other_line
}

/// A node of the tree, with the data that distinguishes it from others of the same name.
struct Node {
    located: Located,
    awaits: Vec<Self>,
}

fn frames_of(nodes: Vec<Node>) -> Vec<AwaitFrame> {
    let mut frames = Vec::new();
    for Node { located, awaits } in nodes {
        frames.push(AwaitFrame {
            function: located.frame,
            awaits: frames_of(awaits),
            name: located.name,
            call: located.instrumented,
        });
    }
    frames
}

/// Adds a chain, sharing the nodes that are already there.
#[inline(never)]
fn add(mut nodes: &mut Vec<Node>, chain: &[Located]) {
    for located in chain {
        let found = nodes.iter().rposition(|node| node.located.is_same_call(located));
        let place = found.unwrap_or_else(|| {
            nodes.push(Node { located: located.clone(), awaits: Vec::new() });
            nodes.len() - 1
        });
        nodes = &mut nodes[place].awaits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses `foo:1 bar:2`, outermost function first. Names in lower case are async functions of
    /// the program, others are functions of Tokio. The number after `@` is the call, and a `*` before it means that the function is
    /// inlined into one that polls several futures.
    fn chain(text: &str) -> Vec<Located> {
        let located = |(i, word): (usize, &str)| {
            let (name, address) = word.split_once('@').unwrap_or((word, ""));
            let (name, is_inlined) = (name.trim_end_matches('*'), name.ends_with('*'));
            let (name, line) = name.split_once(':').unwrap_or((name, "0"));
            let is_own = name.starts_with(|c: char| c.is_lowercase());
            let frame = StackFrame {
                function: match name {
                    "an_async_fn" => "an async fn".into(),
                    "Timer" => "tokio::time::Timer".into(),
                    name if is_own => format!("async {name}").into(),
                    name => name.into(),
                },
                file: Some("src/main.rs".into()),
                line: line.parse().ok(),
                origin: if is_own { FrameOrigin::Program } else { FrameOrigin::Runtime },
            };
            Located {
                frame,
                address: i as u64,
                call: address.parse().unwrap_or_default(),
                inlined_in: is_inlined.then_some(0),
                instrumented: None,
                name: None,
            }
        };
        text.split_whitespace().enumerate().map(located).collect()
    }

    fn show(frames: &[AwaitFrame]) -> String {
        let show = |frame: &AwaitFrame| {
            let name = frame.function.function.trim_start_matches("async ");
            let inner = if frame.awaits.is_empty() {
                String::new()
            } else {
                format!("({})", show(&frame.awaits))
            };
            format!("{name}:{}{inner}", frame.function.line.unwrap())
        };
        frames.iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn chains_become_a_tree() {
        for (chains, expected) in [
            (&["a:1 b:2 Sleep"][..], "a:1(b:2(Sleep:0))"),
            (&["a:1 b:2@7 Sleep", "a:1 c:3@8 Recv"], "a:1(b:2(Sleep:0) c:3(Recv:0))"),
            (&["a:1 All b:2 Sleep", "a:1 All c:3 Recv"], "a:1(All:0(b:2(Sleep:0) c:3(Recv:0)))"),
            // These were awaited one after the other at the same line.
            (&["a:1 b:2 Sleep", "a:1 c:3 Recv"], "a:1(c:3(Recv:0))"),
            // Two calls of the same function.
            (&["a:1 b:2@7 Sleep", "a:1 b:2@8 Sleep"], "a:1(b:2(Sleep:0) b:2(Sleep:0))"),
            (&["a:1 b:2@7 Recv", "a:1 b:3@8 Sleep"], "a:1(b:2(Recv:0) b:3(Sleep:0))"),
            // The function continued from line 1 to line 2.
            (&["a:1 Recv", "a:2 Sleep"], "a:2(Sleep:0)"),
            (
                &["a:1 b:2 Recv", "a:1 b:3 Sleep", "a:1 c:1@9 Sleep"],
                "a:1(b:3(Sleep:0) c:1(Sleep:0))",
            ),
            // A branch of `select!` went on, and two branches.
            (&["a:1 b:2*@7 Timer", "a:1 b:3*@8 Recv"], "a:1(b:3(Recv:0))"),
            (&["a:1 b:2*@7 Recv", "a:1 b:3*@8 Sleep"], "a:1(b:2(Recv:0) b:3(Sleep:0))"),
            (&["a:1 b:2*@7 Recv", "a:1 c:3*@8 Sleep"], "a:1(b:2(Recv:0) c:3(Sleep:0))"),
            (
                &["a:1 an_async_fn:2*@7 Timer", "a:1 an_async_fn:3*@8 Recv"],
                "a:1(an async fn:2(tokio::time::Timer:0) an async fn:3(Recv:0))",
            ),
            (&["a:1 b:2*@7 Recv", "a:1 b:2*@8 Recv"], "a:1(b:2(Recv:0) b:2(Recv:0))"),
            (&[], ""),
        ] {
            let wait = tree(chains.iter().map(|text| chain(text)).collect());
            assert_eq!(show(&wait.frames), expected, "{chains:?}");
        }
    }

    #[test]
    fn the_inside_of_other_code_is_left_out() {
        let names = |text: &str| {
            let kept = essential(&chain(text), &[], 0);
            let names: Vec<_> = kept.iter().map(|at| at.frame.function.to_string()).collect();
            names.join(" ")
        };
        assert_eq!(
            names("a:1 Timeout:9 Coop:9 b:2 Mutex:9 Acquire:9"),
            "async a Timeout async b Mutex"
        );
        let of_channel = |inner: &str, file: &str| {
            let mut all = chain("a:1 Channel:9 Poll:9 Inner:9");
            all[1].frame.function = "an async fn".into();
            all[1].frame.file = Some("/index/tokio-1.54.1/src/sync/mpsc/bounded.rs".into());
            (all[3].frame.function, all[3].frame.file) = (inner.into(), Some(file.into()));
            essential(&all, &[], 0)[1].frame.function.to_string()
        };
        let acquire = "<tokio::sync::batch_semaphore::Acquire as Future>::poll";
        assert_eq!(of_channel(acquire, "x.rs"), "tokio::sync::mpsc::bounded::Sender");
        let file = "/index/tokio-1.54.1/src/sync/mpsc/chan.rs";
        assert_eq!(of_channel("recv", file), "tokio::sync::mpsc::bounded::Receiver");
        assert_eq!(of_channel("other", "x.rs"), OF_CHANNEL);
        let future = "<tokio::time::sleep::Sleep as core::future::future::Future>::poll";
        assert_eq!(future_of(future), "tokio::time::sleep::Sleep");
        // A closure of the function itself.
        let mut all = chain("a:1 b:2");
        all[1].frame.function = "a".into();
        assert_eq!(essential(&all, &[], 0).len(), 1);
    }

    #[test]
    fn a_file_tells_its_module() {
        for (file, module) in [
            ("/index/tokio-1.54.1/src/sync/mpsc/bounded.rs", Some("tokio::sync::mpsc::bounded")),
            ("/index/tokio-util-0.7.1/src/time/mod.rs", Some("tokio_util::time")),
            ("vendor/tokio/src/lib.rs", Some("tokio")),
            ("main.rs", None),
        ] {
            assert_eq!(module_of(file).as_deref(), module);
        }
    }

    #[test]
    fn instrumented_calls_are_named() {
        const SHOP: Call<'_> = Call { name: "b", file: "src/shop.rs", line: 7 };
        const NAMED: Call<'_> = Call { name: "connection", file: "src/main.rs", line: 9 };
        let show = |text: &str| {
            let mut all = chain(text);
            for located in all.iter_mut().filter(|at| &*at.frame.function == "Instrumented") {
                located.frame.function = format!("<{INSTRUMENTED}<F> as Future>::poll").into();
            }
            let kept = essential(&all, &[SHOP, NAMED], 3);
            let show = |at: &Located| {
                let name = at.frame.function.trim_start_matches("async ");
                let given = at.name.as_ref().map(|name| format!("{name}=")).unwrap_or_default();
                format!("{given}{name}:{} {:?}", at.frame.line.unwrap_or(0), at.instrumented)
            };
            kept.iter().map(show).collect::<Vec<_>>().join(", ")
        };
        // The attribute's function, its body; and a block with a name.
        assert_eq!(
            show("a:1 b:2 Instrumented b:3 Instrumented c:4 Sleep"),
            "a:1 None, b:3 Some(3), connection=c:4 Some(4), Sleep:0 None"
        );
        // Futures that have no function of the program's.
        assert_eq!(
            show("a:1 Instrumented Instrumented Sleep"),
            "a:1 None, b:7 Some(3), connection:9 Some(4), Sleep:0 None"
        );
        assert_eq!(show(""), "b:7 Some(3), connection:9 Some(4)");
    }

    #[test]
    fn calls_are_told_apart() {
        let call = |closure: u64, callee: u64| {
            let mut all = chain("a:1 b:2 c:3");
            all[1].frame.function = "a".into();
            (all[1].address, all[2].address) = (closure, callee);
            let kept = essential(&all, &[], 0);
            assert_eq!(kept.len(), 2);
            (kept[0].call, kept[1].call)
        };
        // The same closure calls it at two places.
        assert_eq!(call(5, 7).0, call(6, 7).0);
        assert_ne!(call(5, 7).1, call(6, 7).1);
        assert_eq!(call(5, 7).1, call(5, 8).1, "it went on within");
        // Inlined into the closure.
        assert_ne!(call(5, 5).1, call(6, 6).1);
    }
}
