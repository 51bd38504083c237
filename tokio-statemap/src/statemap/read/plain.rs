//! The fast path for most records: a datum with nothing unusual in it.

/// A datum as it stands in the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plain<'a> {
    pub(super) time_ns: u64,
    pub(super) entity: &'a str,
    pub(super) state: u32,
    pub(super) tag: Option<&'a str>,
}

/// Parses the datum at the beginning of `bytes`. Returns the datum and its length.
///
/// Returns `None` for everything but a complete and ordinary datum. That is no error: the slow path decides.
pub(super) fn datum(bytes: &[u8]) -> Option<(Plain<'_>, usize)> {
    let mut cursor = Cursor { bytes, at: 0 };
    let (mut time, mut entity, mut state, mut tag) = (None, None, None, None);
    cursor.expect(b'{')?;
    loop {
        cursor.skip_space();
        let key = cursor.string()?;
        cursor.skip_space();
        cursor.expect(b':')?;
        cursor.skip_space();
        match key {
            b"time" if time.is_none() => time = Some(cursor.string()?),
            b"entity" if entity.is_none() => entity = Some(cursor.string()?),
            b"tag" if tag.is_none() => tag = Some(cursor.string()?),
            b"state" if state.is_none() => state = Some(cursor.number()?),
            _ => return None,
        }
        cursor.skip_space();
        match cursor.next()? {
            b',' => {}
            b'}' => break,
            _ => return None,
        }
    }
    let plain = Plain {
        time_ns: number(time?)?,
        entity: std::str::from_utf8(entity?).ok()?,
        state: u32::try_from(state?).ok()?,
        tag: tag.map(std::str::from_utf8).transpose().ok()?,
    };
    Some((plain, cursor.at))
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn next(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    /// Returns the inside of a string in which nothing is escaped.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.expect(b'"')?;
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|&b| b == b'"' || b == b'\\' || b < b' ')?;
        self.at += length;
        self.expect(b'"')?;
        Some(&rest[..length])
    }

    /// Returns a whole number, as JSON has it.
    fn number(&mut self) -> Option<u64> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|b| !b.is_ascii_digit())?;
        self.at += length;
        let digits = &rest[..length];
        // If the next byte doesn't end the field, this isn't a whole number.
        (digits.len() == 1 || digits.first() != Some(&b'0')).then(|| number(digits)).flatten()
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, digit| {
        let digit = digit.checked_sub(b'0').filter(|&digit| digit < 10)?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
