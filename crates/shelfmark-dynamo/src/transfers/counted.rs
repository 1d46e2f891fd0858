//! Counts what is read of an object, so that reading goes on at a place after a stop.
//!
//! Invariant: the place is that of the next byte that nobody has consumed yet.

use std::io::{self, BufRead, Read};

/// A reader that knows its place.
pub(super) struct Counted<R> {
    source: R,
    place: u64,
}

impl<R: BufRead> Counted<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, place: 0 }
    }

    /// Returns the number of bytes that were consumed.
    pub(super) fn place(&self) -> u64 {
        self.place
    }

    /// Skips what lies before a place. Returns false if `should_stop` ended it before.
    ///
    /// # Errors
    ///
    /// * Those of the source; `UnexpectedEof` if it ends before the place.
    pub(super) fn skip_to(
        &mut self,
        place: u64,
        should_stop: &dyn Fn() -> bool,
    ) -> io::Result<bool> {
        while self.place < place {
            if should_stop() {
                return Ok(false);
            }
            let left = usize::try_from(place - self.place).unwrap_or(usize::MAX);
            let skipped = self.fill_buf()?.len().min(left);
            if skipped == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.consume(skipped);
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.place += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.source.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.place += amount as u64;
        self.source.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_goes_on_at_a_place() {
        let mut reader = Counted::new(&b"first\nsecond\n"[..]);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!((line.as_str(), reader.place()), ("first\n", 6));

        let mut again = Counted::new(&b"first\nsecond\n"[..]);
        assert!(!again.skip_to(6, &|| true).unwrap());
        assert_eq!(again.place(), 0);
        assert!(again.skip_to(6, &|| false).unwrap());
        let mut rest = String::new();
        again.read_to_string(&mut rest).unwrap();
        assert_eq!((rest.as_str(), again.place()), ("second\n", 13));
        let error = again.skip_to(14, &|| false).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
