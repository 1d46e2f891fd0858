//! Unpacks objects that were packed with Zstandard: all frames of them, one behind the other.
//!
//! Invariant: a frame that asks for more memory than [`WINDOW_BYTES_MAX`] is refused before any of it is
//! unpacked.

use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Most bytes that a frame may look back: what `zstd --ultra` uses without `--long`.
pub(super) const WINDOW_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// A reader of what is packed in another one.
pub(super) struct Unpacker<R> {
    source: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> Unpacker<R> {
    pub(super) fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES_MAX);
        Self { source, decoder, is_in_frame: false }
    }

    /// Goes to the next frame. Returns false at the end.
    fn begin_frame(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.source) {
                Ok(()) => {
                    self.is_in_frame = true;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped =
                        io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(damaged(&error)),
            }
        }
        Ok(false)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        let told = self.decoder.get_checksum_from_data();
        if told.is_some() && told != self.decoder.get_calculated_checksum() {
            return Err(damaged(&"the checksum of a frame is another one"));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Unpacker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.is_in_frame && !self.begin_frame()? {
                return Ok(0);
            }
            let is_over = self.decoder.is_finished();
            if self.decoder.can_collect() == 0 && !is_over {
                let strategy = BlockDecodingStrategy::UptoBlocks(1);
                let decoded = self.decoder.decode_blocks(&mut self.source, strategy);
                decoded.map_err(|error| damaged(&error))?;
                continue;
            }
            let read = self.decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if is_over {
                self.end_frame()?;
            }
        }
    }
}

fn damaged(why: &dyn std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("it is not packed with Zstandard: {why}"))
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn unpacked(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Unpacker::new(bytes).read_to_end(&mut out).map(|_| out)
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn frames_are_read_one_behind_the_other() {
        let long = b"a line of text that comes again\n".repeat(20_000);
        let skipped = [&[0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let all = [packed(&long), skipped, packed(b"last"), packed(b"")].concat();
        assert_eq!(unpacked(&all).unwrap(), [&long[..], b"last"].concat());
        assert_eq!(unpacked(b"").unwrap(), b"");
    }

    #[test]
    fn what_is_not_packed_is_an_error() {
        for bytes in [&b"{\"Item\": {}}"[..], b"\x28", b"\x28\xb5\x2f\xfd"] {
            assert!(unpacked(bytes).is_err(), "{bytes:?}");
        }
        let whole = packed(b"some text that is long enough to be cut");
        for end in 1..whole.len() {
            assert!(unpacked(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn a_frame_that_wants_too_much_memory_is_refused() {
        // The magic number, no flags, and a window of two terabytes.
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8][..], &[0; 16]].concat();
        let why = unpacked(&frame).unwrap_err().to_string();
        assert!(why.contains("indow"), "{why}");
    }
}
