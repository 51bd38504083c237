//! Writes JSON.
//!
//! A JSON crate would add implementations of std's traits to every program that depends on this
//! crate: a type for any value, comparable to those of std, makes `assert_eq!(bytes, [])` ambiguous
//! there.

#[cfg(test)]
mod tests;

use std::fmt::{self, Write};

/// A value that can be written as JSON.
pub(crate) trait Json {
    /// Appends the value.
    fn write(&self, to: &mut String);
}

/// JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raw(String);

/// Writes an object with these fields, in this order.
pub(crate) fn object(fields: &[(&str, &dyn Json)]) -> Raw {
    let mut object = Object::default();
    for (key, value) in fields {
        object.add(key, *value);
    }
    object.end()
}

/// An object that is being written.
#[derive(Default)]
pub(crate) struct Object(String);

impl Object {
    #[inline(never)]
    pub(crate) fn add(&mut self, key: &str, value: &dyn Json) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        key.write(&mut self.0);
        self.0.push(':');
        value.write(&mut self.0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn end(mut self) -> Raw {
        self.0.push_str(if self.0.is_empty() { "{}" } else { "}" });
        Raw(self.0)
    }
}

/// Writes an array of what `value` makes of each item.
pub(crate) fn array<T, V: Json>(items: &[T], value: impl FnMut(&T) -> V) -> Raw {
    array_of(items.len(), &mut Items(items, value))
}

#[inline(never)]
fn array_of(n: usize, elements: &mut dyn Elements) -> Raw {
    let mut to = String::new();
    write_array(n, elements, &mut to);
    Raw(to)
}

/// Writes an array of values of different types.
#[inline(never)]
pub(crate) fn list(values: &[&dyn Json]) -> Raw {
    let mut to = String::new();
    values.write(&mut to);
    Raw(to)
}

/// The elements of an array. With a closure instead, twice as many functions would be compiled for each type.
trait Elements {
    fn write(&mut self, at: usize, to: &mut String);
}

/// Items, and what makes the element of each.
struct Items<'a, T, F>(&'a [T], F);

impl<T, V: Json, F: FnMut(&T) -> V> Elements for Items<'_, T, F> {
    fn write(&mut self, at: usize, to: &mut String) {
        (self.1)(&self.0[at]).write(to);
    }
}

impl<T: Json> Elements for &[T] {
    fn write(&mut self, at: usize, to: &mut String) {
        self[at].write(to);
    }
}

/// Writes an array of `n` elements. This is compiled once for all types.
#[inline(never)]
fn write_array(n: usize, elements: &mut dyn Elements, to: &mut String) {
    to.push('[');
    for at in 0..n {
        if at > 0 {
            to.push(',');
        }
        elements.write(at, to);
    }
    to.push(']');
}

/// Writes a string, including the quotes.
pub(crate) fn string(text: &str) -> String {
    let mut to = String::with_capacity(text.len() + 2);
    text.write(&mut to);
    to
}

impl Raw {
    /// Returns the JSON as text.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl Json for Raw {
    fn write(&self, to: &mut String) {
        to.push_str(&self.0);
    }
}

impl Json for str {
    #[inline(never)]
    fn write(&self, to: &mut String) {
        to.push('"');
        let mut plain = 0;
        // Only ASCII is escaped, and no byte of a multi-byte character is ASCII.
        for (at, byte) in self.bytes().enumerate() {
            let escape = match byte {
                b'"' => "\\\"",
                b'\\' => "\\\\",
                b'\n' => "\\n",
                b'\r' => "\\r",
                b'\t' => "\\t",
                0x08 => "\\b",
                0x0c => "\\f",
                0..0x20 => "",
                _ => continue,
            };
            to.push_str(&self[plain..at]);
            plain = at + 1;
            to.push_str(escape);
            if escape.is_empty() {
                display(format_args!("\\u{byte:04x}"), to);
            }
        }
        to.push_str(&self[plain..]);
        to.push('"');
    }
}

impl Json for String {
    fn write(&self, to: &mut String) {
        self.as_str().write(to);
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write(&self, to: &mut String) {
        (**self).write(to);
    }
}

impl<T: Json> Json for Option<T> {
    fn write(&self, to: &mut String) {
        match self {
            Some(value) => value.write(to),
            None => to.push_str("null"),
        }
    }
}

impl<T: Json> Json for [T] {
    fn write(&self, to: &mut String) {
        let mut elements = self;
        write_array(self.len(), &mut elements, to);
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, to: &mut String) {
        self.as_slice().write(to);
    }
}

impl<T: Json, const N: usize> Json for [T; N] {
    fn write(&self, to: &mut String) {
        self.as_slice().write(to);
    }
}

/// A tuple is an array of values of different types.
macro_rules! tuples {
    ($(($($field:ident),+);)+) => {
        $(impl<$($field: Json),+> Json for ($($field,)+) {
            fn write(&self, to: &mut String) {
                #[allow(non_snake_case, reason = "a field is named as its type")]
                let ($($field,)+) = self;
                [$($field as &dyn Json),+].as_slice().write(to);
            }
        })+
    };
}
tuples! {
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
}

macro_rules! impl_by_display {
    ($($of:ty),+) => {
        $(impl Json for $of {
            fn write(&self, to: &mut String) {
                display(format_args!("{self}"), to);
            }
        })+
    };
}
impl_by_display!(bool, u16, u32, u64, usize);

#[inline(never)]
fn display(value: fmt::Arguments<'_>, to: &mut String) {
    // Writing to a string does not fail.
    let _ = to.write_fmt(value);
}
