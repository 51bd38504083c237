//! The fields of one object. An error has no position: the caller adds it.

use serde_json::{Map, Value};

pub(in crate::statemap) type Object = Map<String, Value>;

pub(in crate::statemap) fn required(object: &mut Object, key: &str) -> Result<Value, String> {
    object.remove(key).ok_or_else(|| format!("`{key}` is missing"))
}

pub(in crate::statemap) fn string(object: &mut Object, key: &str) -> Result<String, String> {
    match required(object, key)? {
        Value::String(text) => Ok(text),
        value => Err(format!("`{key}` is {}; it must be a string", short(&value))),
    }
}

pub(in crate::statemap) fn optional_string(
    object: &mut Object,
    key: &str,
) -> Result<Option<String>, String> {
    match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(value) => Err(format!("`{key}` is {}; it must be a string", short(&value))),
    }
}

pub(in crate::statemap) fn time(object: &mut Object) -> Result<u64, String> {
    let value = required(object, "time")?;
    let time = value.as_str().and_then(|text| text.parse().ok());
    time.ok_or_else(|| {
        format!(
            "`time` is {}; it must be a string of whole ns since `start`, such as \"1500\"",
            short(&value)
        )
    })
}

pub(in crate::statemap) fn nothing_else(object: &Object, right: &str) -> Result<(), String> {
    match object.keys().next() {
        Some(key) => Err(format!("unknown key `{}`: {right}", shorten(key))),
        None => Ok(()),
    }
}

/// Returns a value for a message, shortened.
pub(in crate::statemap) fn short(value: &Value) -> String {
    shorten(&value.to_string())
}

/// Shortens text for a message. Invisible characters are escaped when the message becomes an error.
pub(in crate::statemap) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
