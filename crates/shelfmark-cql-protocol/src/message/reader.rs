//! The notations of the protocol, read.

use std::borrow::Cow;

use bytes::{Buf as _, Bytes};

use crate::bound::BoundValue;
use crate::frame::Version;
use crate::types::{CqlType, take_type_option};

/// A body that does not hold what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) Cow<'static, str>);

impl Malformed {
    /// Says what is wrong.
    pub(crate) fn new(what: impl Into<Cow<'static, str>>) -> Self {
        Self(what.into())
    }
}

pub(crate) type Read<T> = Result<T, Malformed>;

const SHORT: Malformed = Malformed(Cow::Borrowed("The body of the request ends too early"));

const STRING_SHORT: Malformed = Malformed(Cow::Borrowed(
    "Not enough bytes to read an UTF8 serialized string preceded by its 2 bytes length",
));

const LONG_STRING_SHORT: Malformed = Malformed(Cow::Borrowed(
    "Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length",
));

const SHORT_BYTES_SHORT: Malformed = Malformed(Cow::Borrowed(
    "Not enough bytes to read a byte array preceded by its 2 bytes length",
));

/// Takes values off the front of a body.
#[derive(Debug)]
pub(crate) struct Reader {
    body: Bytes,
}

impl Reader {
    pub(crate) fn new(body: Bytes) -> Self {
        Self { body }
    }

    pub(crate) fn byte(&mut self) -> Read<u8> {
        self.body.try_get_u8().map_err(|_| SHORT)
    }

    pub(crate) fn short(&mut self) -> Read<u16> {
        self.body.try_get_u16().map_err(|_| SHORT)
    }

    pub(crate) fn int(&mut self) -> Read<i32> {
        self.body.try_get_i32().map_err(|_| SHORT)
    }

    pub(crate) fn long(&mut self) -> Read<i64> {
        self.body.try_get_i64().map_err(|_| SHORT)
    }

    fn take(&mut self, length: usize) -> Read<Bytes> {
        if length > self.body.len() {
            return Err(SHORT);
        }
        Ok(self.body.split_to(length))
    }

    fn text(&mut self, length: usize) -> Read<String> {
        String::from_utf8(self.take(length)?.into())
            .map_err(|_| Malformed::new("Cannot decode string as UTF8"))
    }

    /// Takes bytes whose length went before them.
    fn take_value(&mut self, length: usize) -> Read<Bytes> {
        let left = self.body.len();
        self.take(length).map_err(|_| {
            Malformed::new(format!(
                "Cannot read value of length {length}, only {left} bytes remaining in the message"
            ))
        })
    }

    /// Reads a `[string]`.
    pub(crate) fn string(&mut self) -> Read<String> {
        let length = self.body.try_get_u16().map_err(|_| STRING_SHORT)?;
        if usize::from(length) > self.body.len() {
            return Err(STRING_SHORT);
        }
        self.text(usize::from(length))
    }

    /// Reads a `[long string]`.
    pub(crate) fn long_string(&mut self) -> Read<String> {
        let length = self.body.try_get_i32().map_err(|_| LONG_STRING_SHORT)?;
        let length = usize::try_from(length).map_err(|_| LONG_STRING_SHORT)?;
        if length > self.body.len() {
            return Err(LONG_STRING_SHORT);
        }
        self.text(length)
    }

    /// Reads `[short bytes]`.
    pub(crate) fn short_bytes(&mut self) -> Read<Bytes> {
        let length = self.body.try_get_u16().map_err(|_| SHORT_BYTES_SHORT)?;
        self.take(usize::from(length)).map_err(|_| SHORT_BYTES_SHORT)
    }

    /// Reads `[bytes]`; a negative length is null.
    pub(crate) fn bytes(&mut self) -> Read<Option<Bytes>> {
        match usize::try_from(self.int()?) {
            Ok(length) => self.take_value(length).map(Some),
            Err(_) => Ok(None),
        }
    }

    /// Reads a `[value]`: length −1 is null, −2 is "not set". Version 3 has nothing that is not set:
    /// each negative length is null there.
    pub(crate) fn value(&mut self, version: Version) -> Read<BoundValue> {
        let length = self.int()?;
        match (length, usize::try_from(length)) {
            (_, Ok(length)) => self.take_value(length).map(BoundValue::Bytes),
            (-1, _) => Ok(BoundValue::Null),
            _ if version < Version::V4 => Ok(BoundValue::Null),
            (-2, _) => Ok(BoundValue::Unset),
            _ => Err(Malformed::new(format!("Invalid ByteBuf length {length}"))),
        }
    }

    /// Reads a `[uuid]`.
    pub(crate) fn uuid(&mut self) -> Read<[u8; 16]> {
        self.take(16)?.as_ref().try_into().map_err(|_| SHORT)
    }

    /// Reads an `[option]`: a type.
    pub(crate) fn type_option(&mut self) -> Read<CqlType> {
        let mut rest = &self.body[..];
        let kind =
            take_type_option(&mut rest).map_err(|_| Malformed::new("a type cannot be read"))?;
        let taken = self.body.len() - rest.len();
        self.take(taken)?;
        Ok(kind)
    }

    /// Reads a `[string list]`.
    pub(crate) fn strings(&mut self) -> Read<Vec<String>> {
        let count = self.short()?;
        (0..count).map(|_| self.string()).collect()
    }

    /// Reads a `[string map]`.
    pub(crate) fn string_map(&mut self) -> Read<Vec<(String, String)>> {
        let count = self.short()?;
        (0..count).map(|_| Ok((self.string()?, self.string()?))).collect()
    }

    /// Skips a `[bytes map]`: a custom payload means nothing here.
    pub(crate) fn skip_payload(&mut self) -> Read<()> {
        let count = self.short()?;
        for _ in 0..count {
            let length = self.short()?;
            self.take(usize::from(length))?;
            self.bytes()?;
        }
        Ok(())
    }
}
