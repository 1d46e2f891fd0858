//! The notations of the protocol, written.

use bytes::{BufMut as _, BytesMut};

/// Appends the protocol's notations. What is longer than its length field can say is cut: names and
/// messages of ours never are.
pub trait Write {
    /// Appends a `[string]`.
    fn string(&mut self, text: &str);
    /// Appends a `[string list]`.
    fn strings(&mut self, texts: &[impl AsRef<str>]);
    /// Appends `[short bytes]`.
    fn short_bytes(&mut self, bytes: &[u8]);
    /// Appends `[bytes]`, or null.
    fn bytes(&mut self, bytes: Option<&[u8]>);
    /// Appends a count as `[int]`.
    fn count(&mut self, count: usize);
    /// Appends a count as `[short]`.
    fn short_count(&mut self, count: usize);
}

impl Write for BytesMut {
    fn string(&mut self, text: &str) {
        let mut end = text.len().min(usize::from(u16::MAX));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.short_bytes(text.get(..end).unwrap_or_default().as_bytes());
    }

    fn strings(&mut self, texts: &[impl AsRef<str>]) {
        self.short_count(texts.len());
        for text in texts.iter().take(usize::from(u16::MAX)) {
            self.string(text.as_ref());
        }
    }

    fn short_bytes(&mut self, bytes: &[u8]) {
        let length = bytes.len().min(usize::from(u16::MAX));
        self.short_count(length);
        self.put_slice(bytes.get(..length).unwrap_or_default());
    }

    fn bytes(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => {
                self.count(bytes.len());
                self.put_slice(bytes);
            }
            None => self.put_i32(-1),
        }
    }

    fn count(&mut self, count: usize) {
        self.put_i32(i32::try_from(count).unwrap_or(i32::MAX));
    }

    fn short_count(&mut self, count: usize) {
        self.put_u16(u16::try_from(count).unwrap_or(u16::MAX));
    }
}
