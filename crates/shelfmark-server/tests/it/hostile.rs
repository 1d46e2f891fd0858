//! Clients that break the protocol end their own connection and cost nobody else anything.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use crate::bed::{Bed, OPTIONS, SUPPORTED, envelope, startup};

/// Sends bytes after a handshake and returns the last error; the connection must end after it.
fn ended_by(bed: &Bed, version: u8, bytes: &[u8]) -> (i32, String) {
    let mut client = bed.connect();
    client.start(version);
    client.send(bytes);
    let mut rest = Vec::new();
    client.stream.read_to_end(&mut rest).unwrap();
    let text_at = rest.windows(4).position(|window| window == [0, 0, 0, 0x0A]).unwrap();
    let code = i32::from_be_bytes(rest[text_at..text_at + 4].try_into().unwrap());
    (code, String::from_utf8_lossy(&rest[text_at + 6..]).into_owned())
}

#[test]
fn what_breaks_the_protocol_ends_one_connection() {
    let bed = Bed::start();
    let mut other = bed.connect();
    other.start(4);
    let too_long = [&[4, 0, 0, 1, 7][..], &u32::MAX.to_be_bytes()].concat();
    for (version, bytes, reason) in [
        (4, envelope(4, -1, OPTIONS, b""), "Negative stream"),
        (4, envelope(0x84, 1, OPTIONS, b""), "Wrong protocol direction"),
        (4, b"GET / HTTP/1.1\r\n\r\n".to_vec(), "Invalid or unsupported protocol version"),
        // Bytes that are no frame.
        (5, envelope(5, 1, OPTIONS, b""), "CRC mismatch detected in frame header"),
        // A frame whose payload was damaged on the way.
        (
            5,
            b"\x09\x00\x02\xa4\xc8\xc1\x05\0\0\0\x05\0\0\0\0\x4f\x5a\x5d\x99".to_vec(),
            "CRC mismatch detected in frame body",
        ),
    ] {
        let (code, text) = ended_by(&bed, version, &bytes);
        assert_eq!(code, 0x000A);
        assert!(text.contains(reason), "{reason}: {text}");
        assert!(other.is_served());
    }
    // This one is `Invalid`, as in the original.
    let mut client = bed.connect();
    client.start(4);
    client.send(&too_long);
    let (code, text) = client.answer().unwrap().error();
    assert_eq!(code, 0x2200);
    assert!(text.starts_with("Request is too big: length 4294967295"), "{text}");
    assert_eq!(client.answer(), None);
    assert!(other.is_served());
}

#[test]
fn a_length_of_256_mib_costs_nothing_until_the_bytes_come() {
    let bed = Bed::start_within(64 * 1024 * 1024);
    let announce = |length: u32| {
        let mut client = bed.connect();
        client.start(4);
        client.send(&[&[4, 0, 0, 1, 7][..], &length.to_be_bytes(), b"half"].concat());
        client
    };
    // What could never come is refused at once.
    for _ in 0..50 {
        let (code, text) = announce(256 * 1024 * 1024).answer().unwrap().error();
        assert_eq!(code, 0x2200);
        assert!(text.starts_with("The memory budget never has room for this request"), "{text}");
    }
    let mut waiting: Vec<_> = (0..50).map(|_| announce(30 * 1024 * 1024)).collect();
    for client in &mut waiting {
        client.stream.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        assert!(client.stream.read(&mut [0]).is_err(), "nothing is wrong so far");
    }
    assert_eq!(bed.budget.taken(), 0);
    // Of those that come, as many get in as there is room for.
    let some = vec![0; 20 * 1024 * 1024];
    let told = waiting.iter_mut().take(4).filter_map(|client| {
        client.stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let sent = client.stream.write_all(&some);
        let mut code = [0; 13];
        let is_told = sent.is_err() || client.stream.read_exact(&mut code).is_ok();
        is_told.then_some(())
    });
    assert!((1..=3).contains(&told.count()));
    let mut other = bed.connect();
    other.start(4);
    assert!(other.is_served());
}

#[test]
fn half_frames_wait_for_their_other_half() {
    let bed = Bed::start();
    let mut client = bed.connect();
    for byte in startup(4, &[("CQL_VERSION", "3.4.7")]) {
        client.send(&[byte]);
    }
    assert_eq!(client.answer().unwrap().opcode, 2);
    assert!(client.is_served());
}

#[test]
fn every_stream_at_once() {
    let bed = Bed::start();
    let mut client = bed.connect();
    client.start(4);
    let requests: Vec<u8> =
        (0..=i16::MAX).flat_map(|stream| envelope(4, stream, OPTIONS, b"")).collect();
    let mut writer = client.stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || writer.write_all(&requests).unwrap());
    let mut seen = vec![false; 32_768];
    for _ in 0..=i16::MAX {
        let answer = client.answer().unwrap();
        assert_eq!(answer.opcode, SUPPORTED);
        let slot = usize::try_from(answer.stream).unwrap();
        assert!(!std::mem::replace(&mut seen[slot], true));
    }
    sender.join().unwrap();
    assert!(client.is_served());
}

#[test]
fn who_never_reads_is_not_read_from() {
    let bed = Bed::start();
    let mut client = bed.connect();
    client.start(4);
    client.stream.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let requests: Vec<u8> = (0..1_000).flat_map(|_| envelope(4, 1, OPTIONS, b"")).collect();
    // Answers are ten times as long as requests: once they fill the room that they may take, the
    // server stops reading and the client's writes get stuck.
    let stuck = (0..100_000).any(|_| client.stream.write_all(&requests).is_err());
    assert!(stuck, "the server took everything");
    let mut other = bed.connect();
    other.start(4);
    assert!(other.is_served());
}
