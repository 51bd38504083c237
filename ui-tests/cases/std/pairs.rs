// Pairs of a type and a trait of std of which rustc infers what `_` stands for, as std has but one
// implementation that fits, and Tokio none. One more, in any crate of the program's tree, and it
// infers nothing.
#[tokio::main]
async fn main() {}

macro_rules! inferred {
    ($($function:ident<$parameter:ty>: $($of:ty),+;)*) => {
        // A body each: rustc tells of one such error in a body.
        $($(const _: fn() = || $function::<$of, $parameter>();)+)*
    };
}

inferred! {
    partial_eq<_>: u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool,
        char, (), (u8, u8), *const u8, fn(), Box<u8>, Box<str>, Box<[u8]>, Option<u8>,
        Option<String>, Option<&'static str>, Result<u8, u8>, Result<(), String>, std::rc::Rc<u8>,
        std::rc::Rc<str>, std::sync::Arc<u8>, std::sync::Arc<str>, std::ops::Range<u8>,
        std::ops::RangeInclusive<u8>, std::cmp::Ordering, std::cmp::Reverse<u8>,
        std::num::Wrapping<u8>, std::num::Saturating<u8>, std::num::NonZeroU8, std::num::NonZeroU64,
        std::num::ParseIntError, std::num::TryFromIntError, std::time::Duration, std::time::Instant,
        std::time::SystemTime, std::io::ErrorKind, std::io::Cursor<Vec<u8>>, std::fmt::Error,
        std::str::Utf8Error, std::string::FromUtf8Error, std::net::SocketAddr,
        std::net::SocketAddrV4, std::collections::HashMap<u8, u8>,
        std::collections::HashMap<String, String>, std::collections::HashSet<u8>,
        std::collections::BTreeMap<u8, u8>, std::collections::BTreeMap<String, String>,
        std::collections::BTreeSet<u8>, std::collections::LinkedList<u8>, std::cell::Cell<u8>,
        std::cell::RefCell<u8>, std::sync::OnceLock<u8>, std::marker::PhantomData<u8>,
        std::task::Poll<u8>, std::thread::ThreadId, std::any::TypeId, std::alloc::Layout,
        std::process::ExitCode, std::process::ExitStatus;
    partial_eq<[_; 0]>: [u8], &'static [u8], Vec<u8>, Vec<u64>, Vec<bool>, Vec<f64>,
        std::collections::VecDeque<u8>;
    partial_eq<Vec<_>>: [u8], &'static [u8], Vec<u8>, Vec<u64>, Vec<bool>, Vec<f64>,
        std::borrow::Cow<'static, [u8]>, std::collections::VecDeque<u8>;
    partial_eq<&'static _>: [u8; 4], &'static u8, &'static mut u8, String, std::path::Path,
        std::ffi::OsStr, std::ffi::CStr, std::ffi::CString;
    partial_ord<_>: u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool,
        char, (), (u8, u8), [u8; 4], &'static u8, &'static [u8], &'static mut u8, *const u8,
        fn(), String, Box<u8>, Box<str>, Box<[u8]>, Option<u8>, Option<String>,
        Option<&'static str>, Result<u8, u8>, Result<(), String>, std::rc::Rc<u8>, std::rc::Rc<str>,
        std::sync::Arc<u8>, std::sync::Arc<str>, std::ffi::CString, std::cmp::Ordering,
        std::cmp::Reverse<u8>, std::num::Wrapping<u8>, std::num::Saturating<u8>,
        std::num::NonZeroU8, std::num::NonZeroU64, std::time::Duration, std::time::Instant,
        std::time::SystemTime, std::io::ErrorKind, std::fmt::Error, std::net::SocketAddr,
        std::net::SocketAddrV4, std::collections::BTreeMap<u8, u8>,
        std::collections::BTreeMap<String, String>, std::collections::BTreeSet<u8>,
        std::collections::VecDeque<u8>, std::collections::LinkedList<u8>, std::cell::Cell<u8>,
        std::cell::RefCell<u8>, std::marker::PhantomData<u8>, std::task::Poll<u8>, std::any::TypeId;
    partial_ord<&'static _>: &'static u8, &'static [u8],
        std::borrow::Cow<'static, str>, std::borrow::Cow<'static, [u8]>, std::path::Path,
        std::ffi::OsStr;
    partial_ord<Vec<_>>: Vec<u8>, Vec<u64>, Vec<bool>, Vec<f64>, Vec<String>, Vec<&'static str>;
    from<_>: bool, (), &'static u8, &'static str, &'static [u8], &'static mut u8, *const u8, fn(),
        Result<u8, u8>, Result<(), String>, Result<(), std::io::Error>, std::cmp::Ordering,
        std::cmp::Reverse<u8>, std::num::Wrapping<u8>, std::num::Saturating<u8>,
        std::num::NonZeroU8, std::num::ParseIntError, std::time::Duration,
        std::time::SystemTime, std::io::ErrorKind, std::io::Cursor<Vec<u8>>, std::fmt::Error,
        std::str::Utf8Error, std::string::FromUtf8Error, std::net::SocketAddrV4,
        std::marker::PhantomData<u8>, std::thread::ThreadId, std::any::TypeId, std::alloc::Layout;
    as_ref<_>: Box<u8>, std::rc::Rc<u8>, std::sync::Arc<u8>, std::task::Waker;
    as_mut<_>: Box<u8>;
    borrow<_>: u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool, char,
        (), (u8, u8), *const u8, fn(), Option<u8>, Option<String>, Option<&'static str>,
        Result<u8, u8>, Result<(), String>, Result<(), std::io::Error>, std::ops::Range<u8>,
        std::ops::RangeInclusive<u8>, std::cmp::Ordering, std::cmp::Reverse<u8>,
        std::num::Wrapping<u8>, std::num::Saturating<u8>, std::num::NonZeroU8, std::num::NonZeroU64,
        std::num::ParseIntError, std::num::TryFromIntError, std::time::Duration, std::time::Instant,
        std::time::SystemTime, std::io::Error, std::io::ErrorKind, std::io::Cursor<Vec<u8>>,
        std::fmt::Error, std::str::Utf8Error, std::string::FromUtf8Error, std::net::IpAddr,
        std::net::Ipv4Addr, std::net::Ipv6Addr, std::net::SocketAddr, std::net::SocketAddrV4,
        std::collections::HashMap<u8, u8>, std::collections::HashMap<String, String>,
        std::collections::HashSet<u8>, std::collections::BTreeMap<u8, u8>,
        std::collections::BTreeMap<String, String>, std::collections::BTreeSet<u8>,
        std::collections::VecDeque<u8>, std::collections::BinaryHeap<u8>,
        std::collections::LinkedList<u8>, std::cell::Cell<u8>, std::cell::RefCell<u8>,
        std::sync::Mutex<u8>, std::sync::RwLock<u8>, std::sync::OnceLock<u8>,
        std::sync::atomic::AtomicU64, std::sync::atomic::AtomicBool, std::marker::PhantomData<u8>,
        std::pin::Pin<Box<u8>>, std::task::Poll<u8>, std::task::Waker, std::thread::ThreadId,
        std::any::TypeId, std::alloc::Layout, std::process::ExitCode, std::process::ExitStatus,
        std::process::Stdio, std::fs::File, std::net::TcpStream;
    borrow_mut<_>: u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, bool,
        char, (), (u8, u8), &'static u8, &'static str, &'static [u8], *const u8, fn(), Option<u8>,
        Option<String>, Option<&'static str>, Result<u8, u8>, Result<(), String>,
        Result<(), std::io::Error>, std::rc::Rc<u8>, std::rc::Rc<str>, std::sync::Arc<u8>,
        std::sync::Arc<str>, std::borrow::Cow<'static, str>, std::borrow::Cow<'static, [u8]>,
        std::path::PathBuf, std::ffi::OsString, std::ffi::CString, std::ops::Range<u8>,
        std::ops::RangeInclusive<u8>, std::cmp::Ordering, std::cmp::Reverse<u8>,
        std::num::Wrapping<u8>, std::num::Saturating<u8>, std::num::NonZeroU8, std::num::NonZeroU64,
        std::num::ParseIntError, std::num::TryFromIntError, std::time::Duration, std::time::Instant,
        std::time::SystemTime, std::io::Error, std::io::ErrorKind, std::io::Cursor<Vec<u8>>,
        std::fmt::Error, std::str::Utf8Error, std::string::FromUtf8Error, std::net::IpAddr,
        std::net::Ipv4Addr, std::net::Ipv6Addr, std::net::SocketAddr, std::net::SocketAddrV4,
        std::collections::HashMap<u8, u8>, std::collections::HashMap<String, String>,
        std::collections::HashSet<u8>, std::collections::BTreeMap<u8, u8>,
        std::collections::BTreeMap<String, String>, std::collections::BTreeSet<u8>,
        std::collections::VecDeque<u8>, std::collections::BinaryHeap<u8>,
        std::collections::LinkedList<u8>, std::cell::Cell<u8>, std::cell::RefCell<u8>,
        std::sync::Mutex<u8>, std::sync::RwLock<u8>, std::sync::OnceLock<u8>,
        std::sync::atomic::AtomicU64, std::sync::atomic::AtomicBool, std::marker::PhantomData<u8>,
        std::pin::Pin<Box<u8>>, std::task::Poll<u8>, std::task::Waker, std::thread::ThreadId,
        std::any::TypeId, std::alloc::Layout, std::process::ExitCode, std::process::ExitStatus,
        std::process::Stdio, std::fs::File, std::net::TcpStream;
    from_iterator<_>: (), Vec<u8>, Vec<u64>, Vec<bool>, Vec<f64>, Vec<String>, Vec<&'static str>,
        Box<[u8]>, Result<(), String>, Result<(), std::io::Error>, std::borrow::Cow<'static, [u8]>,
        std::collections::HashMap<u8, u8>, std::collections::HashMap<String, String>,
        std::collections::HashSet<u8>, std::collections::BTreeMap<u8, u8>,
        std::collections::BTreeMap<String, String>, std::collections::BTreeSet<u8>,
        std::collections::VecDeque<u8>, std::collections::BinaryHeap<u8>,
        std::collections::LinkedList<u8>;
    extend<_>: (), Vec<String>, std::collections::HashMap<String, String>,
        std::collections::BTreeMap<String, String>;
    add<_>: String, std::time::Duration, std::time::Instant, std::time::SystemTime;
    sub<_>: std::time::Duration, std::time::SystemTime;
    mul<_>: std::time::Duration;
    div<_>: std::time::Duration;
    add_assign<_>: String, std::time::Duration, std::time::Instant, std::time::SystemTime;
    sub_assign<_>: std::time::Duration, std::time::Instant, std::time::SystemTime;
    mul_assign<_>: std::time::Duration;
    div_assign<_>: std::time::Duration;
    index<_>: std::ffi::OsString, std::ffi::CStr, std::ffi::CString,
        std::collections::HashMap<u8, u8>, std::collections::BTreeMap<u8, u8>,
        std::collections::VecDeque<u8>;
    index_mut<_>: std::ffi::OsString, std::collections::VecDeque<u8>;
    range_bounds<_>: std::ops::Range<u8>, std::ops::RangeInclusive<u8>;
}

fn partial_eq<T: ?Sized + PartialEq<P>, P>() {}
fn partial_ord<T: ?Sized + PartialOrd<P>, P>() {}
fn from<T: ?Sized + From<P>, P>() {}
fn as_ref<T: ?Sized + AsRef<P>, P>() {}
fn as_mut<T: ?Sized + AsMut<P>, P>() {}
fn borrow<T: ?Sized + std::borrow::Borrow<P>, P>() {}
fn borrow_mut<T: ?Sized + std::borrow::BorrowMut<P>, P>() {}
fn from_iterator<T: ?Sized + FromIterator<P>, P>() {}
fn extend<T: ?Sized + Extend<P>, P>() {}
fn add<T: ?Sized + std::ops::Add<P>, P>() {}
fn sub<T: ?Sized + std::ops::Sub<P>, P>() {}
fn mul<T: ?Sized + std::ops::Mul<P>, P>() {}
fn div<T: ?Sized + std::ops::Div<P>, P>() {}
fn add_assign<T: ?Sized + std::ops::AddAssign<P>, P>() {}
fn sub_assign<T: ?Sized + std::ops::SubAssign<P>, P>() {}
fn mul_assign<T: ?Sized + std::ops::MulAssign<P>, P>() {}
fn div_assign<T: ?Sized + std::ops::DivAssign<P>, P>() {}
fn index<T: ?Sized + std::ops::Index<P>, P>() {}
fn index_mut<T: ?Sized + std::ops::IndexMut<P>, P>() {}
fn range_bounds<T: ?Sized + std::ops::RangeBounds<P>, P>() {}
