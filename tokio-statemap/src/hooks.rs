//! The program's own runtime hooks.
//!
//! Tokio keeps one closure per hook, so the last one set wins. [`Hooks`] combines several.

use std::fmt;

use tokio::runtime::Builder;
#[cfg(tokio_unstable)]
use tokio::runtime::TaskMeta;

use crate::recorder::TokioHooks;

type ThreadHook = Box<dyn Fn() + Send + Sync>;
#[cfg(tokio_unstable)]
type TaskHook = Box<dyn Fn(&TaskMeta<'_>) + Send + Sync>;

/// The program's own runtime hooks, called after the hooks that record.
///
/// Several hooks of a kind are called in the order in which they were added. A hook that panics is
/// caught and reported once on stderr, and the worker continues. (With Tokio alone a panic in a
/// hook kills the worker.)
///
/// # Examples
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use tokio_statemap::Hooks;
///
/// static PARKS: AtomicUsize = AtomicUsize::new(0);
///
/// let hooks = Hooks::new()
///     .on_thread_start(|| println!("a thread started"))
///     .on_thread_park(|| { PARKS.fetch_add(1, Ordering::Relaxed); });
/// # let _ = hooks;
/// ```
#[derive(Default)]
pub struct Hooks {
    pub(crate) thread_start: Vec<ThreadHook>,
    pub(crate) thread_stop: Vec<ThreadHook>,
    pub(crate) thread_park: Vec<ThreadHook>,
    pub(crate) thread_unpark: Vec<ThreadHook>,
    #[cfg(tokio_unstable)]
    pub(crate) task_spawn: Vec<TaskHook>,
    #[cfg(tokio_unstable)]
    pub(crate) before_task_poll: Vec<TaskHook>,
    #[cfg(tokio_unstable)]
    pub(crate) after_task_poll: Vec<TaskHook>,
    #[cfg(tokio_unstable)]
    pub(crate) task_terminate: Vec<TaskHook>,
}

macro_rules! adders {
    ($( $(#[$attribute:meta])* $name:ident => $field:ident($($argument:ty)?); )*) => {
        $(
            $(#[$attribute])*
            #[must_use]
            pub fn $name(mut self, hook: impl Fn($($argument)?) + Send + Sync + 'static) -> Self {
                self.$field.push(Box::new(hook));
                self
            }
        )*
    };
}

impl Hooks {
    /// Creates an empty set of hooks.
    pub fn new() -> Self {
        Self::default()
    }

    adders! {
        /// Adds a hook for `Builder::on_thread_start`.
        on_thread_start => thread_start();
        /// Adds a hook for `Builder::on_thread_stop`.
        on_thread_stop => thread_stop();
        /// Adds a hook for `Builder::on_thread_park`.
        on_thread_park => thread_park();
        /// Adds a hook for `Builder::on_thread_unpark`.
        on_thread_unpark => thread_unpark();
        /// Adds a hook for `Builder::on_task_spawn`. Requires `--cfg tokio_unstable`.
        #[cfg(tokio_unstable)]
        on_task_spawn => task_spawn(&TaskMeta<'_>);
        /// Adds a hook for `Builder::on_before_task_poll`. Requires `--cfg tokio_unstable`.
        #[cfg(tokio_unstable)]
        on_before_task_poll => before_task_poll(&TaskMeta<'_>);
        /// Adds a hook for `Builder::on_after_task_poll`. Requires `--cfg tokio_unstable`.
        #[cfg(tokio_unstable)]
        on_after_task_poll => after_task_poll(&TaskMeta<'_>);
        /// Adds a hook for `Builder::on_task_terminate`. Requires `--cfg tokio_unstable`.
        #[cfg(tokio_unstable)]
        on_task_terminate => task_terminate(&TaskMeta<'_>);
    }

    /// Installs the hooks in `builder` without recording anything. To record as well, pass them to
    /// `register_hooks_with`.
    pub fn install(self, builder: &mut Builder) {
        install(builder, self, None);
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hooks = f.debug_struct("Hooks");
        hooks
            .field("on_thread_start", &self.thread_start.len())
            .field("on_thread_stop", &self.thread_stop.len())
            .field("on_thread_park", &self.thread_park.len())
            .field("on_thread_unpark", &self.thread_unpark.len());
        #[cfg(tokio_unstable)]
        hooks
            .field("on_task_spawn", &self.task_spawn.len())
            .field("on_before_task_poll", &self.before_task_poll.len())
            .field("on_after_task_poll", &self.after_task_poll.len())
            .field("on_task_terminate", &self.task_terminate.len());
        hooks.finish()
    }
}

/// Installs the hooks in `builder`: those that record, then the user's. A hook that neither needs
/// isn't set.
pub(crate) fn install(builder: &mut Builder, hooks: Hooks, records: Option<TokioHooks>) {
    let (tasks, workers) = records.as_ref().map_or((false, false), TokioHooks::wants);
    let any = tasks || workers;

    macro_rules! set {
        ($wanted:expr, $builder_method:ident, $name:ident, $call:ident($($meta:ident)?)) => {
            set!($wanted, $builder_method, $name as $name, $call($($meta)?))
        };
        ($wanted:expr, $builder_method:ident, $name:ident as $records:ident, $call:ident($($meta:ident)?)) => {{
            let (user, name) = (hooks.$name, stringify!($builder_method));
            match records.clone() {
                Some(records) if $wanted && user.is_empty() => {
                    builder.$builder_method(move |$($meta)?| records.$records($($meta)?));
                }
                Some(records) if $wanted => {
                    builder.$builder_method(move |$($meta)?| {
                        records.$records($($meta)?);
                        $call(name, &user, $($meta)?);
                    });
                }
                _ if user.is_empty() => {}
                _ => _ = builder.$builder_method(move |$($meta)?| $call(name, &user, $($meta)?)),
            }
        }};
    }

    set!(any, on_thread_start, thread_start, call());
    set!(any, on_thread_stop, thread_stop, call());
    set!(workers, on_thread_park, thread_park, call());
    set!(workers, on_thread_unpark, thread_unpark, call());
    #[cfg(tokio_unstable)]
    {
        set!(tasks, on_task_spawn, task_spawn, call_of_task(meta));
        if records.as_ref().is_some_and(TokioHooks::sees_wakers) {
            set!(
                tasks,
                on_before_task_poll,
                before_task_poll as before_seen_task_poll,
                call_of_task(meta)
            );
            set!(
                tasks,
                on_after_task_poll,
                after_task_poll as after_seen_task_poll,
                call_of_task(meta)
            );
        } else {
            set!(tasks, on_before_task_poll, before_task_poll, call_of_task(meta));
            set!(tasks, on_after_task_poll, after_task_poll, call_of_task(meta));
        }
        set!(tasks, on_task_terminate, task_terminate, call_of_task(meta));
    }
    #[cfg(not(tokio_unstable))]
    let _ = tasks;
}

fn call(name: &str, hooks: &[ThreadHook]) {
    for hook in hooks {
        guarded(name, hook);
    }
}

#[cfg(tokio_unstable)]
fn call_of_task(name: &str, hooks: &[TaskHook], meta: &TaskMeta<'_>) {
    for hook in hooks {
        guarded(name, || hook(meta));
    }
}

/// Calls a hook of the user's. A panic in a hook would kill the worker in a release build, abort
/// the process in a debug build, and unwind into the caller of `spawn`.
fn guarded(name: &str, hook: impl FnOnce()) {
    use std::sync::atomic::{AtomicBool, Ordering};
    static REPORTED: AtomicBool = AtomicBool::new(false);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(hook));
    if let Err(payload) = result {
        // Dropping the payload may panic.
        std::mem::forget(payload);
        if !REPORTED.swap(true, Ordering::Relaxed) {
            crate::util::message::warn(format_args!(
                "a hook of the program panicked in {name}; it is called again the next time \
                 (further panics of hooks are not reported)"
            ));
        }
    }
}
