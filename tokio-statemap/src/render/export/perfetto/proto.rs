//! The part of protobuf's wire format that traces need.

/// A message that is being encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Message {
    bytes: Vec<u8>,
}

const VARINT: u32 = 0;
const FIXED_64: u32 = 1;
const LENGTH: u32 = 2;

impl Message {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Appends a field of type `uint64`, nonnegative `int64`, `uint32`, `bool` or an enumeration.
    pub(super) fn number(&mut self, field: u32, number: u64) {
        self.tag(field, VARINT);
        self.varint(number);
    }

    /// Appends a field of type `fixed64`.
    pub(super) fn fixed(&mut self, field: u32, number: u64) {
        self.tag(field, FIXED_64);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Appends a field of type `string` or `bytes`.
    pub(super) fn text(&mut self, field: u32, text: &[u8]) {
        self.tag(field, LENGTH);
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text);
    }

    /// Appends a message as a field.
    pub(super) fn message(&mut self, field: u32, fill: impl FnOnce(&mut Self)) {
        self.tag(field, LENGTH);
        let begin = self.bytes.len();
        fill(self);
        // The length is only known now, but comes first.
        let end = self.bytes.len();
        self.varint((end - begin) as u64);
        let digits = self.bytes.len() - end;
        self.bytes[begin..].rotate_right(digits);
    }

    fn tag(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the wire format's documentation.
    #[test]
    fn known_encodings() {
        let of = |fill: fn(&mut Message)| {
            let mut message = Message::default();
            fill(&mut message);
            message.bytes
        };
        assert_eq!(of(|m| m.number(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(of(|m| m.text(2, b"testing")), *b"\x12\x07testing");
        assert_eq!(of(|m| m.message(3, |m| m.number(1, 150))), [0x1a, 3, 0x08, 0x96, 0x01]);
        assert_eq!(of(|m| m.fixed(1, 258)), [0x09, 2, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(of(|m| m.number(1, u64::MAX)).len(), 11);
        let long = of(|m| m.message(47, |m| m.text(1, &[7; 300])));
        assert_eq!(long[..5], [0xfa, 0x02, 0xaf, 0x02, 0x0a]);
        assert_eq!(long.len(), 2 + 2 + 3 + 300);
    }
}
