//! Text that is written in large parts; where there is much of it, by another thread than makes it.

use std::io::{self, Write};
use std::sync::mpsc;
use std::{mem, panic, thread};

/// How long a part is.
const PART_BYTES: usize = 1 << 18;
/// How many parts may be made and not yet written.
const PARTS_AHEAD: usize = 4;

/// Where text is made.
pub(super) struct Text<'a> {
    part: Vec<u8>,
    /// Takes a part away, and leaves an empty one.
    put: &'a mut dyn FnMut(&mut Vec<u8>) -> io::Result<()>,
}

/// Writes what `make` makes to `w`. If `is_much`, it is made on a thread of its own meanwhile: to make
/// data takes about as long as the system takes to write them.
pub(super) fn write(
    mut w: impl Write,
    is_much: bool,
    make: impl Fn(&mut Text<'_>) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let written = if is_much { write_beside(&mut w, &make) } else { None };
    written.unwrap_or_else(|| {
        Text::make(make, |part| {
            w.write_all(part)?;
            part.clear();
            Ok(())
        })
    })?;
    w.flush()
}

/// `None` if there can be no thread.
fn write_beside(
    w: &mut impl Write,
    make: &(impl Fn(&mut Text<'_>) -> io::Result<()> + Sync),
) -> Option<io::Result<()>> {
    let (full, parts) = mpsc::sync_channel(PARTS_AHEAD);
    let (empty, used) = mpsc::channel();
    thread::scope(|scope| {
        let make = move || {
            Text::make(make, |part| {
                let next = used.try_recv().unwrap_or_else(|_| new_part());
                // Nobody takes it if a write failed, and that is what is told of then.
                full.send(mem::replace(part, next)).map_err(|_| io::ErrorKind::BrokenPipe.into())
            })
        };
        let maker = thread::Builder::new().spawn_scoped(scope, make).ok()?;
        let written = parts.into_iter().try_for_each(|mut part| {
            w.write_all(&part)?;
            part.clear();
            let _ = empty.send(part); // it has made all there is
            Ok(())
        });
        let made = maker.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        Some(written.and(made))
    })
}

fn new_part() -> Vec<u8> {
    // It is full with what doesn't fit any more.
    Vec::with_capacity(PART_BYTES + PART_BYTES / 16)
}

impl Text<'_> {
    /// Has `put` take what `make` makes.
    fn make(
        make: impl Fn(&mut Text<'_>) -> io::Result<()>,
        mut put: impl FnMut(&mut Vec<u8>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut text = Text { part: new_part(), put: &mut put };
        make(&mut text)?;
        (text.put)(&mut text.part)
    }
}

impl Write for Text<'_> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.part.extend_from_slice(bytes);
        match self.part.len() < PART_BYTES {
            true => Ok(()),
            false => (self.put)(&mut self.part),
        }
    }

    /// What isn't a part yet waits for the rest.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: usize = 200_000;

    fn make(text: &mut Text<'_>) -> io::Result<()> {
        (0..LINES).try_for_each(|line| writeln!(text, "{line} of {LINES}"))
    }

    #[test]
    fn it_is_the_same_whoever_makes_it() {
        let texts = [false, true].map(|is_much| {
            let mut text = Vec::new();
            write(&mut text, is_much, make).unwrap();
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
                let failed = write(Full(room), is_much, make).unwrap_err();
                assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
                let failed = write(Full(room), is_much, |_| Err(io::ErrorKind::Other.into()));
                assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::Other);
            }
            let nothing = write(Full(0), is_much, |_| Ok(()));
            assert!(nothing.is_ok());
        }
    }

    #[test]
    #[should_panic(expected = "a bug")]
    fn a_panic_goes_on() {
        let _ = write(Vec::new(), true, |_| panic!("a bug"));
    }
}
