use bytes::{BufMut as _, BytesMut};

use super::encoder::{Envelopes, Framing};
use super::envelope::{Envelope, Opcode, Version};
use super::*;
use crate::limits::ENVELOPE_SIZE_BYTES_MAX;

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// Bodies as the requests of a client.
fn as_requests(framing: Framing, version: Version, bodies: &[Vec<u8>]) -> BytesMut {
    let mut envelopes = Envelopes::of_requests();
    let mut out = BytesMut::new();
    for (stream, body) in (0_i16..).zip(bodies) {
        envelopes.push(version, 0, stream, Opcode::Query, framing, |out| out.put_slice(body));
    }
    out.extend_from_slice(&envelopes.take(framing));
    out
}

fn read_all(decoder: &mut Decoder, bytes: &[u8], step: usize) -> Vec<Envelope> {
    let (mut input, mut found) = (BytesMut::new(), Vec::new());
    for piece in bytes.chunks(step) {
        input.extend_from_slice(piece);
        while let Some(envelope) = decoder.take(&mut input).unwrap() {
            found.push(envelope);
        }
    }
    assert!(input.is_empty());
    found
}

fn bodies() -> Vec<Vec<u8>> {
    let noise = |length: usize| -> Vec<u8> {
        let mut state = 7_u32;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .take(length)
        .collect()
    };
    vec![
        Vec::new(),
        b"SELECT".to_vec(),
        vec![b'x'; 5_000],
        noise(131_071 - 9),
        noise(131_071 - 8),
        vec![b'y'; 400_000],
        noise(1),
        noise(131_060),
        noise(300_000),
    ]
}

#[test]
fn vectors_of_the_specification() {
    let mut out = BytesMut::new();
    super::framed::put(&mut out, &[], true, false);
    assert_eq!(out[..], hex("000002 6a36c4 d37e7744")[..]);
    let mut envelopes = Envelopes::default();
    let framing = Framing::Framed { compressed: false };
    envelopes.push(Version::V5, 0, 0, Opcode::Ready, framing, |_| ());
    assert_eq!(envelopes.take(framing)[..], hex("090002 a4c8c1 850000000200000000 4f5a5d99")[..]);
}

#[test]
fn what_is_written_is_read_however_it_arrives() {
    for (framing, version, compression) in [
        (Framing::Plain, Version::V3, None),
        (Framing::PlainCompressed(Compression::Lz4), Version::V4, Some(Compression::Lz4)),
        (Framing::PlainCompressed(Compression::Snappy), Version::V4, Some(Compression::Snappy)),
        (Framing::Framed { compressed: false }, Version::V5, None),
        (Framing::Framed { compressed: true }, Version::V5, Some(Compression::Lz4)),
    ] {
        let bytes = as_requests(framing, version, &bodies());
        for step in [7_919, 131_072, usize::MAX] {
            let mut decoder = Decoder::default();
            decoder.agree(version, compression);
            let found = read_all(&mut decoder, &bytes, step.min(bytes.len()));
            assert_eq!(found.len(), bodies().len());
            for ((stream, body), envelope) in (0..).zip(bodies()).zip(found) {
                assert_eq!((envelope.stream, envelope.version), (stream, version));
                assert!(envelope.body == body, "{framing:?} {stream}");
            }
        }
    }
}

#[test]
fn small_answers_share_a_frame_and_large_ones_are_split() {
    let framing = Framing::Framed { compressed: false };
    let mut small = as_requests(framing, Version::V5, &vec![vec![0; 100]; 50]);
    let frame = super::framed::take(&mut small, false).unwrap().unwrap();
    assert!(frame.self_contained && small.is_empty());
    let mut large = as_requests(framing, Version::V5, &[vec![0; 300_000]]);
    let mut sizes = Vec::new();
    while let Some(frame) = super::framed::take(&mut large, false).unwrap() {
        assert!(!frame.self_contained);
        sizes.push(frame.payload.len());
    }
    assert_eq!(sizes, [131_071, 131_071, 300_009 - 2 * 131_071]);
}

#[test]
fn each_damaged_byte_of_a_frame_is_noticed() {
    for compressed in [false, true] {
        let framing = Framing::Framed { compressed };
        let bytes = as_requests(framing, Version::V5, &[vec![b'x'; 200]]);
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 0x10;
            let mut decoder = Decoder::default();
            decoder.agree(Version::V5, compressed.then_some(Compression::Lz4));
            let header = if compressed { 8 } else { 6 };
            let expected = if place < header {
                FrameError::HeaderChecksum
            } else {
                FrameError::PayloadChecksum
            };
            assert_eq!(decoder.take(&mut damaged), Err(expected), "byte {place}");
        }
    }
}

#[test]
fn refusals() {
    let refused = |bytes: &[u8]| Decoder::default().take(&mut BytesMut::from(bytes)).unwrap_err();
    assert_eq!(
        refused(&[66, 0, 1, 2, 5, 0, 0, 0, 0]),
        FrameError::UnknownVersion { version: 66, stream: 0x0102 }
    );
    assert_eq!(refused(&[2, 0, 7, 5]), FrameError::UnknownVersion { version: 2, stream: 7 });
    // Bytes that come one by one are answered like bytes that come at once.
    let begun = Decoder::default().take(&mut BytesMut::from(&[66, 0, 1][..]));
    assert!(matches!(begun, Ok(None)), "{begun:?}");
    assert_eq!(
        refused(&[0x84, 0, 0, 0, 5, 0, 0, 0, 0]),
        FrameError::Direction { opcode: 5, stream: 0 }
    );
    // No byte of the body has to be there, and none is allocated.
    assert!(matches!(
        refused(&[4, 0, 0, 9, 7, 0xFF, 0xFF, 0xFF, 0xFF]),
        FrameError::TooLarge { stream: 9, .. }
    ));
    // The flag of compression means something where one was agreed on.
    let damaged = [4, 1, 0, 9, 7, 0, 0, 0, 1, 1];
    let plain = Decoder::default().take(&mut BytesMut::from(&damaged[..]));
    assert_eq!(plain.unwrap().unwrap().body, &[1][..]);
    let mut decoder = Decoder::default();
    decoder.agree(Version::V4, Some(Compression::Lz4));
    assert_eq!(
        decoder.take(&mut BytesMut::from(&damaged[..])),
        Err(FrameError::Compression { stream: 9 })
    );
    let mut decoder = Decoder::default();
    decoder.agree(Version::V4, None);
    let mut two = BytesMut::from(&[3, 0, 0, 1, 5, 0, 0, 0, 1, 9, 4, 0, 0, 2, 5, 0, 0, 0, 0][..]);
    let other = FrameError::OtherVersion { got: 3, expected: 4, stream: 1 };
    assert!(other.is_behind());
    assert_eq!(decoder.take(&mut two), Err(other));
    assert_eq!(decoder.take(&mut two).unwrap().unwrap().stream, 2);
}

#[test]
fn a_body_of_the_longest_length_waits_without_memory() {
    let mut input = BytesMut::from(&[4, 0, 0, 1, 7][..]);
    input.put_u32(u32::try_from(ENVELOPE_SIZE_BYTES_MAX).unwrap());
    assert_eq!(Decoder::default().take(&mut input), Ok(None));
    assert!(input.capacity() < 1_000);
}

#[test]
fn bombs_are_refused_before_they_grow() {
    for (compression, body) in [
        (Compression::Lz4, hex("0fffffff 00")),
        (Compression::Lz4, hex("ffffffff 00")),
        (Compression::Snappy, hex("ffffff7f 00")),
    ] {
        let mut decoder = Decoder::default();
        decoder.agree(Version::V4, Some(compression));
        let mut input = BytesMut::from(&[4, 1, 0, 1, 7][..]);
        input.put_u32(u32::try_from(body.len()).unwrap());
        input.put_slice(&body);
        assert_eq!(decoder.take(&mut input), Err(FrameError::Compression { stream: 1 }));
    }
}

#[test]
fn a_self_contained_frame_holds_whole_envelopes() {
    for payload in [&[5, 0, 0][..], &[5, 0, 0, 1, 7, 0, 0, 0, 2, 0][..]] {
        let mut bytes = BytesMut::new();
        super::framed::put(&mut bytes, payload, true, false);
        let mut decoder = Decoder::default();
        decoder.agree(Version::V5, None);
        assert_eq!(decoder.take(&mut bytes), Err(FrameError::Unaligned));
    }
}
