//! Writes JSON.
//!
//! A JSON crate would add implementations of std's traits to every program that depends on this
//! crate: a type for any value, comparable to those of std, makes `assert_eq!(bytes, [])` ambiguous
//! there.

#[cfg(test)]
mod tests;

use std::fmt::{Display, Write};

/// A value that can be written as JSON.
pub(crate) trait Json {
    /// Appends the value.
    fn write(&self, to: &mut String);
}

/// JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Raw(String);

/// Writes an object with these fields, in this order.
pub(crate) fn object<const N: usize>(fields: [(&str, &dyn Json); N]) -> Raw {
    object_of(&fields)
}

/// Compiled once, and not for each number of fields.
fn object_of(fields: &[(&str, &dyn Json)]) -> Raw {
    let mut to = String::from("{");
    for (index, (key, value)) in fields.iter().enumerate() {
        if index > 0 {
            to.push(',');
        }
        key.write(&mut to);
        to.push(':');
        value.write(&mut to);
    }
    to.push('}');
    Raw(to)
}

/// Writes an array.
pub(crate) fn array<T: Json>(values: impl IntoIterator<Item = T>) -> Raw {
    let mut to = String::new();
    write_array(values, &mut to);
    Raw(to)
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

impl<T: Json> Json for Vec<T> {
    fn write(&self, to: &mut String) {
        write_array(self, to);
    }
}

impl<T: Json, const N: usize> Json for [T; N] {
    fn write(&self, to: &mut String) {
        write_array(self, to);
    }
}

/// A tuple is an array of values of different types.
macro_rules! tuples {
    ($(($($field:ident),+);)+) => {
        $(impl<$($field: Json),+> Json for ($($field,)+) {
            fn write(&self, to: &mut String) {
                #[allow(non_snake_case, reason = "a field is named as its type")]
                let ($($field,)+) = self;
                write_array([$($field as &dyn Json),+], to);
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
                display(self, to);
            }
        })+
    };
}
impl_by_display!(bool, u32, u64, usize);

fn write_array<T: Json>(values: impl IntoIterator<Item = T>, to: &mut String) {
    to.push('[');
    for value in values {
        write_value(&value, to);
    }
    if to.ends_with(',') {
        to.pop();
    }
    to.push(']');
}

fn write_value(value: &dyn Json, to: &mut String) {
    value.write(to);
    to.push(',');
}

fn display(value: impl Display, to: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(to, "{value}");
}
