//! The wire format of Protocol Buffers.

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Fixed(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            other => panic!("{other:?} has no length"),
        }
    }

    pub(super) fn fixed(self) -> u64 {
        match self {
            Self::Fixed(number) => number,
            other => panic!("{other:?} isn't a fixed64"),
        }
    }
}

/// Returns the fields of a message, with their numbers.
pub(super) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = (u32, Value<'_>)> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut bytes)),
            1 => Value::Fixed(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes) as usize;
                Value::Bytes(take(&mut bytes, length))
            }
            kind => panic!("a field of wire type {kind}"),
        };
        Some(((tag >> 3) as u32, value))
    })
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return number;
        }
    }
    panic!("a number of over 64 bits")
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

/// A message all of whose fields are known.
#[derive(Debug)]
pub(super) struct Fields<'a>(Vec<(u32, Value<'a>)>);

impl<'a> Fields<'a> {
    /// Reads a message, which must not have fields other than `known`.
    pub(super) fn read(bytes: &'a [u8], known: &[u32]) -> Self {
        let fields: Vec<_> = fields(bytes).collect();
        let unknown = fields.iter().find(|(number, _)| !known.contains(number));
        assert!(unknown.is_none(), "{unknown:?} isn't one of {known:?}");
        Self(fields)
    }

    pub(super) fn all(&self, field: u32) -> impl Iterator<Item = Value<'a>> + use<'_, 'a> {
        self.0.iter().filter(move |(number, _)| *number == field).map(|(_, value)| *value)
    }

    fn one(&self, field: u32) -> Option<Value<'a>> {
        let mut all = self.all(field);
        let one = all.next();
        assert!(all.next().is_none(), "{field} is there twice");
        one
    }

    pub(super) fn number(&self, field: u32) -> Option<u64> {
        self.one(field).map(|value| match value {
            Value::Number(number) => number,
            other => panic!("{field} is {other:?}"),
        })
    }

    pub(super) fn bytes(&self, field: u32) -> Option<&'a [u8]> {
        self.one(field).map(Value::bytes)
    }

    pub(super) fn text(&self, field: u32) -> Option<String> {
        self.bytes(field).map(|text| String::from_utf8(text.to_vec()).expect("UTF-8"))
    }
}
