//! Writes text in large parts. If there is much, a second thread makes it.

use std::io::{self, Write};
use std::mem;

use crate::util::parallel::beside;
use crate::util::queue::queue;

/// The size of a part.
const PART_BYTES: usize = 1 << 18;
/// The most parts that are made and not yet written.
const PARTS_AHEAD: usize = 4;

/// A buffer in which text is made.
pub(super) struct Text<'a> {
    part: Vec<u8>,
    /// Takes a part away, and leaves an empty one.
    put: &'a mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
}

/// Makes text.
type Make<'a> = dyn Fn(&mut Text<'_>) -> io::Result<()> + Sync + 'a;

/// Writes the text that `make` makes to `w`. If `is_much`, another thread makes it in parallel, as making data takes
/// about as long as the system takes to write it.
pub(super) fn write(w: &mut dyn Write, is_much: bool, make: &Make<'_>) -> io::Result<()> {
    let written = if is_much { write_beside(w, make) } else { None };
    written.unwrap_or_else(|| {
        Text::make(make, &mut |part| {
            w.write_all(part)?;
            part.clear();
            Ok(())
        })
    })?;
    w.flush()
}

/// Returns `None` if no thread can be started.
fn write_beside(w: &mut dyn Write, make: &Make<'_>) -> Option<io::Result<()>> {
    let (full, parts) = queue(PARTS_AHEAD);
    let (mut full, mut parts) = (Some(full), Some(parts));
    let (mut made, mut written) = (Ok(()), Ok(()));
    let mut maker = || {
        let Some(full) = full.take() else { return };
        made = Text::make(make, &mut |part| {
            // The queue closes if a write fails, and then the error of the write is returned.
            match full.send(mem::replace(part, new_part())) {
                true => Ok(()),
                false => Err(io::ErrorKind::BrokenPipe.into()),
            }
        });
    };
    let mut writer = || {
        let Some(parts) = parts.take() else { return };
        while let (Ok(()), Some(part)) = (&written, parts.receive()) {
            written = w.write_all(&part);
        }
    };
    let is_done = beside(&mut maker, &mut writer);
    is_done.then(|| written.and(made))
}

fn new_part() -> Vec<u8> {
    // The last write may make a part exceed its size.
    Vec::with_capacity(PART_BYTES + PART_BYTES / 16)
}

impl Text<'_> {
    /// Passes the text that `make` makes to `put`.
    fn make(
        make: &Make<'_>,
        put: &mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut text = Text { part: new_part(), put };
        make(&mut text)?;
        (text.put)(&mut text.part)
    }

    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.part.extend_from_slice(bytes);
        match self.part.len() < PART_BYTES {
            true => Ok(()),
            false => (self.put)(&mut self.part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: usize = 200_000;

    fn make(text: &mut Text<'_>) -> io::Result<()> {
        (0..LINES).try_for_each(|line| text.write(format!("{line} of {LINES}\n").as_bytes()))
    }

    #[test]
    fn it_is_the_same_whoever_makes_it() {
        let texts = [false, true].map(|is_much| {
            let mut text = Vec::new();
            write(&mut text, is_much, &make).unwrap();
            String::from_utf8(text).unwrap()
        });
        assert_eq!(texts[0].lines().count(), LINES);
        assert!(texts[0].len() > 2 * PARTS_AHEAD * PART_BYTES);
        assert!(texts[0] == texts[1]);
    }

    #[test]
    fn what_fails_is_what_is_told() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        for is_much in [false, true] {
            for room in [0, PART_BYTES * 3 / 2, 8 * PART_BYTES] {
                let failed = write(&mut Full(room), is_much, &make).unwrap_err();
                assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
                let failed = write(&mut Full(room), is_much, &|_| Err(io::ErrorKind::Other.into()));
                assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::Other);
            }
            let nothing = write(&mut Full(0), is_much, &|_| Ok(()));
            assert!(nothing.is_ok());
        }
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_goes_on() {
        let _ = write(&mut Vec::new(), true, &|_| panic!("a bug"));
    }
}
