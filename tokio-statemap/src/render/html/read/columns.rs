//! Reads numbers and texts from bytes.

/// The bytes that are left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Reads a LEB128 number.
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64, String> {
        let (mut value, mut shift) = (0, 0);
        loop {
            let (&byte, rest) = self.0.split_first().ok_or_else(cut)?;
            self.0 = rest;
            let bits = u64::from(byte & 0x7f);
            if shift > 63 || bits << shift >> shift != bits {
                return Err("a number is too large".to_owned());
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
        }
    }

    /// Reads a number that fits `T`.
    pub(super) fn number<T: TryFrom<u64>>(&mut self) -> Result<T, String> {
        T::try_from(self.varint()?).map_err(|_| "a number is too large".to_owned())
    }

    /// Reads the next `length` bytes.
    pub(super) fn take(&mut self, length: u64) -> Result<&'a [u8], String> {
        let length = usize::try_from(length).ok().filter(|&length| length <= self.0.len());
        let (taken, rest) = self.0.split_at(length.ok_or_else(cut)?);
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a text after its length.
    pub(super) fn text(&mut self) -> Result<&'a str, String> {
        let length = self.varint()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| "a name isn't UTF-8".to_owned())
    }
}

fn cut() -> String {
    "a column is cut".to_owned()
}

/// A list of exceptions, and the item that the next one applies to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exceptions {
    left: u64,
    /// The offset of the values.
    at: usize,
    next: Option<u64>,
}

impl Exceptions {
    /// Reads the next list in `bytes`, each of whose values consists of `numbers` numbers.
    pub(super) fn parse(all: &[u8], bytes: &mut Bytes<'_>, numbers: usize) -> Result<Self, String> {
        let count = bytes.varint()?;
        let at = all.len() - bytes.0.len();
        for _ in 0..count {
            for _ in 0..=numbers {
                bytes.varint()?;
            }
        }
        let mut list = Self { left: count, at, next: None };
        list.go_on(all, 0)?;
        Ok(list)
    }

    fn go_on(&mut self, all: &[u8], from: u64) -> Result<(), String> {
        self.next = None;
        if self.left > 0 {
            let gap = self.number(all)?;
            self.next = Some(from.checked_add(gap).ok_or_else(cut)?);
            self.left -= 1;
        }
        Ok(())
    }

    fn number(&mut self, all: &[u8]) -> Result<u64, String> {
        let mut bytes = Bytes(&all[self.at..]);
        let number = bytes.varint()?;
        self.at = all.len() - bytes.0.len();
        Ok(number)
    }

    /// Returns the numbers of the `nth` item, if it is an exception.
    #[inline]
    pub(super) fn take<const N: usize>(
        &mut self,
        all: &[u8],
        nth: u64,
    ) -> Result<Option<[u64; N]>, String> {
        if self.next != Some(nth) {
            return Ok(None);
        }
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.number(all)?;
        }
        self.go_on(all, nth + 1)?;
        Ok(Some(numbers))
    }

    /// Returns the time of the `nth` item, which the columns have at `drawn_ns`.
    #[inline]
    pub(super) fn time(&mut self, all: &[u8], nth: u64, drawn_ns: u64) -> Result<u64, String> {
        match self.take(all, nth)? {
            None => Ok(drawn_ns),
            Some([0, by_ns]) => {
                drawn_ns.checked_add(by_ns).ok_or_else(|| "a time is too late".to_owned())
            }
            Some([_, by_ns]) => {
                drawn_ns.checked_sub(by_ns).ok_or_else(|| "a time is too early".to_owned())
            }
        }
    }
}

/// A row of the page.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) name: String,
    /// The place of the row that spawned it.
    pub(super) parent: Option<u64>,
    pub(super) description: Option<String>,
    pub(super) transitions: Vec<Drawn>,
}

/// A transition of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    /// In units of the page.
    pub(super) time: u64,
    pub(super) state: u32,
    pub(super) worker: Option<u16>,
    pub(super) tag: Option<u64>,
    /// The waker of a poll, as in the column.
    pub(super) waker: u64,
}
