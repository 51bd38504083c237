//! Names of the program's own that could be taken for those of the expansion.

#![allow(non_upper_case_globals, non_camel_case_types, dead_code)]

mod core {}
mod std {}

struct Function;
struct Option;
struct Formatter;

mod shadowed {
    pub enum Result {
        None,
        Some,
        Ok(u8),
    }
    use Result::{None, Ok, Some};

    #[tokio_statemap::instrument(fields = "{a}")]
    pub async fn function(a: u8, (_, b): (u8, u8)) -> Result {
        if b == 1 { None } else if a == 1 { Some } else { Ok(a) }
    }
}

const __FUNCTION: &str = "the program's";
static FUNCTION: &str = "the program's, too";
struct __here {}

macro_rules! line {
    () => {
        "the program's"
    };
}

trait ToOwned {
    fn to_owned(&self) -> ! {
        ::std::process::exit(1)
    }
}
impl ToOwned for u8 {}

#[tokio_statemap::instrument]
async fn names(__arg1: u8, _: u8, __field0: u8, __formatter: u8, instrumented: u8) -> (u8, &'static str) {
    let __returned = (__here {}, line!());
    let __here = 1;
    (__arg1 + __field0 + __formatter + __here + instrumented, __FUNCTION)
}

#[tokio_statemap::instrument(fields = "{f} {__field0} {type} {id}")]
async fn fields(f: u16, __field0: u16, id: &u16, r#type: u16) -> u16 {
    f + __field0 + id + r#type
}

macro_rules! functions {
    ($name:ident, $id:ident, $ty:ty, $body:expr, $label:literal, |$self:ident| $of_self:expr) => {
        #[tokio_statemap::instrument(name = $label, fields = "{id} {own}")]
        async fn $name($id: $ty, own: $ty) -> ($ty, $ty) {
            let local = $body;
            (local, own)
        }

        struct Method(u8);

        impl Method {
            #[tokio_statemap::instrument]
            async fn method($self, own: u8) -> u8 {
                $of_self + own
            }
        }
    };
}

functions!(made, id, u32, { let own = 1; id + own }, "made", |self| self.0);

// Both are called `a`.
macro_rules! twice {
    ($a:ident) => {
        #[tokio_statemap::instrument]
        async fn twice($a: u8, a: u8, (_, mut b): (u8, u8)) -> (u8, u8) {
            b += 1;
            let _ = b;
            ($a, a)
        }
    };
}

twice!(a);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:?}", names(1, 2, 3, 4, 5).await);
    println!("{}", fields(1, 2, &3, 4).await);
    println!("{:?} {}", made(1, 2).await, Method(1).method(2).await);
    println!("{:?}", twice(1, 2, (3, 4)).await);
    let _ = (FUNCTION, Function, Option, Formatter);
    shadowed::function(1, (2, 3)).await;
}
