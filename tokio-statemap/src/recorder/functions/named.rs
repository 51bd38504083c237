//! Functions that are given names where their futures are made.

use std::cell::Cell;
use std::future::Future;
use std::panic::Location;
use std::sync::{LazyLock, Mutex};

use crate::recorder::functions::{Function, Instrumented, instrumented};
use crate::recorder::hot::locations;
use crate::util::map::Map;
use crate::util::sync::lock;

/// Gives futures a name, under which their times are counted and waits in them are shown.
///
/// Use it for futures that are not one of your `async fn`s, or are created within one. In a build without the
/// feature `record`, it returns the future itself.
///
/// # Examples
///
/// ```
/// use tokio_statemap::Instrument;
///
/// # async fn read_order(_: u32) {}
/// # async fn send_invoice(_: u32) {}
/// async fn handle(order: u32) {
///     read_order(order).instrument("read the order").await;
///     send_invoice(order).instrument("send the invoice").await;
/// }
/// ```
pub trait Instrument: Future + Sized {
    /// Names this future. The name and the place of this call tell it from others. The first 4096 such pairs are told
    /// apart.
    #[track_caller]
    fn instrument(self, name: &'static str) -> Instrumented<Self> {
        instrumented(function(name, Location::caller()), self)
    }
}

impl<F: Future> Instrument for F {}

type StaticLocation = &'static Location<'static>;

/// A name, by its own address, and the place that gave it.
type Key = (usize, usize, usize);

static ALL: LazyLock<Mutex<Map<(&'static str, usize), &'static Function>>> =
    LazyLock::new(Mutex::default);

/// The function that stands for all names beyond the most.
static OTHERS: Function = Function::named("(other names)", "", 0, 0);

const SLOTS: usize = 32;

thread_local! {
    /// The names that this thread used last, so that it rarely needs the lock.
    static LAST: [Cell<Option<(Key, &'static Function)>>; SLOTS] =
        const { [const { Cell::new(None) }; SLOTS] };
}

/// Returns the function of this name and place.
fn function(name: &'static str, location: StaticLocation) -> &'static Function {
    let place = locations::address(location);
    let key = (name.as_ptr().addr(), name.len(), place);
    LAST.with(|last| {
        // A `Location` is 24 bytes, and they are laid out one after the other.
        let last = &last[place / 8 % SLOTS];
        match last.get() {
            Some((known, function)) if known == key => function,
            _ => {
                let function = intern(name, location, &mut lock(&ALL));
                last.set(Some((key, function)));
                function
            }
        }
    })
}

fn intern(
    name: &'static str,
    location: StaticLocation,
    all: &mut Map<(&'static str, usize), &'static Function>,
) -> &'static Function {
    let key = (name, locations::address(location));
    if let Some(function) = all.get(&key) {
        return function;
    }
    if all.len() >= Function::MOST {
        return &OTHERS;
    }
    let (file, line, column) = (location.file(), location.line(), location.column());
    let function = Box::leak(Box::new(Function::named(name, file, line, column)));
    all.insert(key, function);
    function
}
