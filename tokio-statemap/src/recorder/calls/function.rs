//! An instrumented function, and its index.

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::util::sync::lock;

/// An instrumented async function, or a future that was given a name. There is one for each place in
/// the source, in a `static` or leaked.
pub struct Function {
    name: Name,
    file: &'static str,
    line: u32,
    column: u32,
    /// [`UNKNOWN`](Self::UNKNOWN), [`NONE`](Self::NONE), or the index.
    index: AtomicU32,
}

/// The source of a name.
enum Name {
    /// The name of a type inside the function: its path, and [`HERE`].
    Of(fn() -> &'static str),
    Given(&'static str),
}

/// The suffix of the name of the type that the attribute puts into a function.
const HERE: &str = "::__here";

/// The suffix that the body of an `async fn` adds to the path of its items.
const BODY: &str = "::{{closure}}";

/// The functions that have an index, in its order.
static FUNCTIONS: Mutex<Vec<&'static Function>> = Mutex::new(Vec::new());

impl Function {
    /// The most functions that are told apart.
    pub(crate) const MOST: usize = 4096;
    const UNKNOWN: u32 = u32::MAX;
    /// The index of a function after [`MOST`](Self::MOST) others.
    const NONE: u32 = u32::MAX - 1;

    /// Returns a function by a type that is declared in it: `name` returns the name of the type, which ends in
    /// `::__here`.
    pub const fn new(
        name: fn() -> &'static str,
        file: &'static str,
        line: u32,
        column: u32,
    ) -> Self {
        Self { name: Name::Of(name), file, line, column, index: AtomicU32::new(Self::UNKNOWN) }
    }

    /// Returns a function with this name.
    pub const fn named(name: &'static str, file: &'static str, line: u32, column: u32) -> Self {
        Self { name: Name::Given(name), file, line, column, index: AtomicU32::new(Self::UNKNOWN) }
    }

    /// Returns its path, such as `shop::orders::load`, or the name that it was given.
    pub fn name(&self) -> &'static str {
        match self.name {
            Name::Of(name) => {
                let name = name();
                let name = name.strip_suffix(HERE).unwrap_or(name);
                name.strip_suffix(BODY).unwrap_or(name)
            }
            Name::Given(name) => name,
        }
    }

    /// Returns the file it is in.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// Returns the line it begins in, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the column it begins in, from 1.
    pub fn column(&self) -> u32 {
        self.column
    }

    /// Returns its index: below [`MOST`](Self::MOST), and the same for the life of the process. `None` if as many
    /// functions came before it.
    #[inline]
    pub(crate) fn index(&'static self) -> Option<usize> {
        match self.index.load(Ordering::Relaxed) {
            Self::UNKNOWN => self.first_index(),
            Self::NONE => None,
            index => Some(index as usize),
        }
    }

    #[cold]
    #[inline(never)]
    fn first_index(&'static self) -> Option<usize> {
        self.assign(&mut lock(&FUNCTIONS))
    }

    fn assign(&'static self, functions: &mut Vec<&'static Self>) -> Option<usize> {
        let known = self.index.load(Ordering::Relaxed);
        if known != Self::UNKNOWN {
            return (known != Self::NONE).then_some(known as usize);
        }
        let next = functions.len();
        let index = (next < Self::MOST).then_some(next);
        if index.is_some() {
            functions.push(self);
        }
        self.index.store(index.map_or(Self::NONE, |index| index as u32), Ordering::Relaxed);
        index
    }

    /// Returns all functions that have an index, in its order.
    pub(crate) fn all() -> Vec<&'static Self> {
        lock(&FUNCTIONS).clone()
    }

    /// Returns its bit, which some functions share.
    #[inline]
    pub(crate) fn bit(&'static self) -> u64 {
        1 << (self.index().unwrap_or(Self::MOST) % 64)
    }

    /// Returns an address that tells it from all other functions in this process.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}:{}", self.name(), self.file, self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_path_of_the_function() {
        struct Type;
        #[allow(non_camel_case_types)]
        struct __here;
        let of = |name| Function::new(name, "f", 1, 2).name();
        assert_eq!(
            of(std::any::type_name::<__here>),
            concat!(module_path!(), "::the_name_is_the_path_of_the_function")
        );
        assert!(of(std::any::type_name::<Type>).ends_with("::Type"));
        async fn load() -> &'static str {
            #[allow(non_camel_case_types)]
            struct __here;
            Function::new(std::any::type_name::<__here>, "f", 1, 2).name()
        }
        let mut load = std::pin::pin!(load());
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(name) = std::future::Future::poll(load.as_mut(), &mut cx) else {
            panic!("it waits for nothing");
        };
        assert!(name.ends_with("::the_name_is_the_path_of_the_function::load"), "{name}");
        let named = Function::named("load::__here", "src/a.rs", 3, 4);
        assert_eq!(format!("{named:?}"), "load::__here at src/a.rs:3:4");
    }

    #[test]
    fn an_index_is_dense_and_stays() {
        static ONE: Function = Function::named("one", "f", 1, 1);
        static OTHER: Function = Function::named("other", "f", 2, 1);
        let (one, other) = (ONE.index().unwrap(), OTHER.index().unwrap());
        assert_ne!(one, other);
        assert_eq!((ONE.index(), OTHER.index()), (Some(one), Some(other)));
        assert!(std::ptr::eq(Function::all()[one], &ONE));
    }

    #[test]
    fn those_beyond_the_most_have_none() {
        static FIRST: Function = Function::named("first", "f", 1, 1);
        static LAST: Function = Function::named("last", "f", 1, 1);
        static BEYOND: Function = Function::named("beyond", "f", 1, 1);
        let mut functions = vec![&FIRST; Function::MOST - 1];
        assert_eq!(LAST.assign(&mut functions), Some(Function::MOST - 1));
        assert_eq!(BEYOND.assign(&mut functions), None);
        assert_eq!((BEYOND.index(), BEYOND.assign(&mut Vec::new())), (None, None));
        assert_eq!(functions.len(), Function::MOST);
    }
}
