//! Unpacks objects that were packed with gzip: all members of them, one behind the other.
//!
//! Invariant: zeros behind the last member are its padding, as programs that write whole blocks leave it;
//! anything else that is no member is an error.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// A reader of what is packed in another one.
pub(super) struct Unpacker<R> {
    state: State<R>,
}

enum State<R> {
    /// Before a member, or at the end.
    Between(R),
    Member(Box<GzDecoder<R>>),
    /// An error was returned.
    Broken,
}

impl<R: BufRead> Unpacker<R> {
    pub(super) fn new(source: R) -> Self {
        Self { state: State::Between(source) }
    }

    /// Goes to the next member. Returns false at the end.
    fn begin_member(&mut self, mut source: R) -> io::Result<bool> {
        loop {
            let bytes = source.fill_buf()?;
            if bytes.is_empty() {
                self.state = State::Between(source);
                return Ok(false);
            }
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            if zeros < bytes.len() {
                source.consume(zeros);
                self.state = State::Member(Box::new(GzDecoder::new(source)));
                return Ok(true);
            }
            source.consume(zeros);
        }
    }
}

impl<R: BufRead> Read for Unpacker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Broken) {
                State::Between(source) => {
                    if !self.begin_member(source)? {
                        return Ok(0);
                    }
                }
                State::Member(mut member) => {
                    let read = member.read(buffer)?;
                    if read == 0 && !buffer.is_empty() {
                        self.state = State::Between(member.into_inner());
                        continue;
                    }
                    self.state = State::Member(member);
                    return Ok(read);
                }
                State::Broken => return Err(io::ErrorKind::InvalidData.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        // A small buffer, so that every border is met.
        let source = io::BufReader::with_capacity(7, bytes);
        Unpacker::new(source).read_to_end(&mut out).map(|_| out)
    }

    #[test]
    fn members_are_read_one_behind_the_other() {
        let long = b"a line of text that comes again\n".repeat(20_000);
        let all = [packed(&long), packed(b""), packed(b"last"), packed(b"")].concat();
        assert_eq!(unpacked(&all).unwrap(), [&long[..], b"last"].concat());
        assert_eq!(unpacked(b"").unwrap(), b"");
    }

    #[test]
    fn padding_is_passed_over() {
        let all = [packed(b"one"), vec![0; 20], packed(b"two"), vec![0; 512]].concat();
        assert_eq!(unpacked(&all).unwrap(), b"onetwo");
        assert_eq!(unpacked(&[0; 30]).unwrap(), b"");
    }

    #[test]
    fn what_is_no_member_is_an_error() {
        for behind in [&b"{\"Item\": {}}"[..], b"\x1f", b"\x1f\x8b\x08"] {
            assert!(unpacked(&[&packed(b"one"), behind].concat()).is_err(), "{behind:?}");
        }
        let whole = packed(b"some text that is long enough to be cut");
        for end in 1..whole.len() {
            assert!(unpacked(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn nothing_is_read_behind_an_error() {
        let bytes = [packed(b"one"), b"text".to_vec(), packed(b"two")].concat();
        let mut unpacker = Unpacker::new(&bytes[..]);
        let mut out = Vec::new();
        assert!(unpacker.read_to_end(&mut out).is_err());
        assert!(unpacker.read_to_end(&mut out).is_err());
        assert_eq!(out, b"one");
    }
}
