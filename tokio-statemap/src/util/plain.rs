//! Writes values to a black box and reads them back: little-endian numbers, and sequences after their lengths.

use std::cmp::Reverse;
use std::time::Duration;

/// A value that a box can have.
pub(crate) trait Plain: Sized {
    fn write(&self, into: &mut Vec<u8>);

    /// Reads a value. `None` if there is none here: a box may be damaged, or made by somebody else.
    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self>;
}

/// The bytes that are still to be read.
#[cfg(feature = "read")]
#[derive(Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

#[cfg(feature = "read")]
impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(first)
    }
}

macro_rules! numbers {
    ($($Number:ty),*) => {$(
        impl Plain for $Number {
            fn write(&self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }

            #[cfg(feature = "read")]
            fn read(from: &mut Bytes<'_>) -> Option<Self> {
                Some(Self::from_le_bytes(from.take(size_of::<Self>())?.try_into().ok()?))
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, i64);

impl Plain for usize {
    fn write(&self, into: &mut Vec<u8>) {
        (*self as u64).write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        Self::try_from(u64::read(from)?).ok()
    }
}

impl Plain for bool {
    fn write(&self, into: &mut Vec<u8>) {
        into.push(u8::from(*self));
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        match u8::read(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl Plain for Duration {
    fn write(&self, into: &mut Vec<u8>) {
        (self.as_secs(), self.subsec_nanos()).write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let (seconds, ns) = Plain::read(from)?;
        (ns < 1_000_000_000).then(|| Self::new(seconds, ns))
    }
}

impl Plain for () {
    fn write(&self, _: &mut Vec<u8>) {}

    #[cfg(feature = "read")]
    fn read(_: &mut Bytes<'_>) -> Option<Self> {
        Some(())
    }
}

impl<T: Plain> Plain for Reverse<T> {
    fn write(&self, into: &mut Vec<u8>) {
        self.0.write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        T::read(from).map(Reverse)
    }
}

impl<T: Plain> Plain for Box<T> {
    fn write(&self, into: &mut Vec<u8>) {
        (**self).write(into);
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        T::read(from).map(Self::new)
    }
}

impl<T: Plain> Plain for Box<[T]> {
    fn write(&self, into: &mut Vec<u8>) {
        self.len().write(into);
        self.iter().for_each(|value| value.write(into));
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        Vec::read(from).map(Vec::into_boxed_slice)
    }
}

impl Plain for String {
    fn write(&self, into: &mut Vec<u8>) {
        self.len().write(into);
        into.extend_from_slice(self.as_bytes());
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let len = usize::read(from)?;
        Self::from_utf8(from.take(len)?.to_vec()).ok()
    }
}

impl<T: Plain> Plain for Option<T> {
    fn write(&self, into: &mut Vec<u8>) {
        self.is_some().write(into);
        if let Some(value) = self {
            value.write(into);
        }
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        Some(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn write(&self, into: &mut Vec<u8>) {
        self.len().write(into);
        for value in self {
            value.write(into);
        }
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let len = usize::read(from)?;
        // Each value has a byte at least, so that a length alone takes no memory.
        let mut all = Self::with_capacity(len.min(from.0.len() / size_of::<T>().max(1)));
        if len > from.0.len() {
            return None;
        }
        for _ in 0..len {
            all.push(T::read(from)?);
        }
        Some(all)
    }
}

impl<T: Plain + Copy + Default, const N: usize> Plain for [T; N] {
    fn write(&self, into: &mut Vec<u8>) {
        self.iter().for_each(|value| value.write(into));
    }

    #[cfg(feature = "read")]
    fn read(from: &mut Bytes<'_>) -> Option<Self> {
        let mut all = [T::default(); N];
        for value in &mut all {
            *value = T::read(from)?;
        }
        Some(all)
    }
}

macro_rules! tuples {
    ($(($($T:ident $n:tt),*))*) => {$(
        impl<$($T: Plain),*> Plain for ($($T,)*) {
            fn write(&self, into: &mut Vec<u8>) {
                $(self.$n.write(into);)*
            }

            #[cfg(feature = "read")]
            fn read(from: &mut Bytes<'_>) -> Option<Self> {
                Some(($($T::read(from)?,)*))
            }
        }
    )*};
}

tuples! { (A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3) }

/// Implements `Plain` for structs, field by field. All fields are named, so a missing one is a compile error.
macro_rules! plain {
    ($($Struct:ident $(<$T:ident>)? { $($field:ident),* $(,)? })*) => {$(
        impl$(<$T: $crate::util::plain::Plain>)? $crate::util::plain::Plain for $Struct$(<$T>)? {
            fn write(&self, into: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($crate::util::plain::Plain::write($field, into);)*
            }

            #[cfg(feature = "read")]
            fn read(from: &mut $crate::util::plain::Bytes<'_>) -> Option<Self> {
                $(let $field = $crate::util::plain::Plain::read(from)?;)*
                Some(Self { $($field),* })
            }
        }
    )*};
}

/// Implements `Plain` for structs that have one field without a name.
macro_rules! plain_newtype {
    ($($Struct:ident)*) => {$(
        impl $crate::util::plain::Plain for $Struct {
            fn write(&self, into: &mut Vec<u8>) {
                $crate::util::plain::Plain::write(&self.0, into);
            }

            #[cfg(feature = "read")]
            fn read(from: &mut $crate::util::plain::Bytes<'_>) -> Option<Self> {
                $crate::util::plain::Plain::read(from).map(Self)
            }
        }
    )*};
}

/// Implements `Plain` for enums without fields: writes the place of the variant.
macro_rules! plain_enum {
    ($($Enum:ty { $($Variant:ident),* $(,)? })*) => {$(
        impl $crate::util::plain::Plain for $Enum {
            fn write(&self, into: &mut Vec<u8>) {
                $crate::util::plain::Plain::write(&(*self as u8), into);
            }

            #[cfg(feature = "read")]
            fn read(from: &mut $crate::util::plain::Bytes<'_>) -> Option<Self> {
                let all = [$(<$Enum>::$Variant),*];
                all.get(usize::from(<u8 as $crate::util::plain::Plain>::read(from)?)).copied()
            }
        }
    )*};
}

pub(crate) use plain;
pub(crate) use plain_enum;
pub(crate) use plain_newtype;

#[cfg(all(test, feature = "read"))]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let all = (
            vec![Some(String::from("é")), None],
            [1_u64, u64::MAX],
            (Duration::new(3, 999_999_999), true, -7_i64),
            7_u16,
        );
        let mut bytes = Vec::new();
        all.write(&mut bytes);
        let mut from = Bytes(&bytes);
        assert_eq!(Plain::read(&mut from), Some(all));
        assert!(from.0.is_empty());
    }

    #[test]
    fn what_is_cut_off_or_impossible_is_refused() {
        let mut bytes = Vec::new();
        vec![(1_u64, String::from("abc"))].write(&mut bytes);
        for len in 0..bytes.len() {
            assert_eq!(<Vec<(u64, String)>>::read(&mut Bytes(&bytes[..len])), None, "{len}");
        }
        // A length without what it is of.
        let huge = u64::MAX.to_le_bytes();
        assert_eq!(<Vec<u8>>::read(&mut Bytes(&huge)), None);
        assert_eq!(String::read(&mut Bytes(&huge)), None);
        assert_eq!(bool::read(&mut Bytes(&[2])), None);
        assert_eq!(String::read(&mut Bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 0xff])), None);
        let mut bytes = Vec::new();
        (1_u64, 1_000_000_000_u32).write(&mut bytes);
        assert_eq!(Duration::read(&mut Bytes(&bytes)), None);
    }
}
