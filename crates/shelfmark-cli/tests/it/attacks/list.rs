//! The attacks, each bounded in time.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::wire::{
    BATCH, Cql, EXECUTE, OPTIONS, PREPARE, QUERY, REGISTER, call, connect, envelope, http, post,
    query, query_with, startup,
};
use super::{PATIENCE, Target};

/// One attack.
#[derive(Clone, Copy)]
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// It is in the selection that always runs.
    pub(super) is_short: bool,
    pub(super) run: fn(&Target),
}

pub(super) const fn short(name: &'static str, run: fn(&Target)) -> Attack {
    Attack { name, is_short: true, run }
}

pub(super) const fn long(name: &'static str, run: fn(&Target)) -> Attack {
    Attack { name, is_short: false, run }
}

/// On a server that asks nobody who they are.
pub(super) const ATTACKS: &[Attack] = &[
    short("lists of IN in a selection", |target| refused_product(target, "SELECT v FROM k.keys")),
    short("lists of IN in a deletion", |target| refused_product(target, "DELETE FROM k.keys")),
    short("lists of IN in an update", |target| refused_product(target, "UPDATE k.keys SET v = 1")),
    short("tuples of IN", tuples),
    short("long keys of IN", long_keys),
    short("lists of IN in markers", |target| markers_product(target, "SELECT v FROM k.keys")),
    long("lists of IN in markers of a deletion", |target| {
        markers_product(target, "DELETE FROM k.keys");
    }),
    short("a large value for many keys", value_for_many),
    short("conditional batches", conditional_batches),
    short("batches over many partitions", large_batch),
    long("a batch of one partition", |target| batch_text(target, "BEGIN BATCH ", false, 20_000)),
    long("an unlogged batch", |target| batch_text(target, "BEGIN UNLOGGED BATCH ", true, 20_000)),
    short("an unpaged answer that is read", unpaged_read),
    short("unpaged answers that nobody reads", unpaged_unread),
    long("pages of many large rows", large_pages),
    short("a page without end in version 5", |target| unread(target, 4, "SELECT * FROM k.wide")),
    short("JSON of large rows", |target| unread(target, 2, "SELECT JSON * FROM k.wide")),
    long("large rows in the other order", |target| {
        unread(target, 4, "SELECT * FROM k.wide WHERE a = 1 ORDER BY b DESC");
    }),
    short("large rows that are sorted", |target| {
        unread(target, 4, "SELECT * FROM k.wide WHERE a IN (1, 2) ORDER BY b DESC");
    }),
    long("large rows that are filtered", |target| {
        unread(target, 4, "SELECT * FROM k.wide WHERE b >= 0 ALLOW FILTERING");
    }),
    long("large rows that are grouped", |target| {
        unread(target, 4, "SELECT a, b, max(v) FROM k.wide GROUP BY a, b");
    }),
    short("selections pipelined and never read", |target| {
        pipelined(target, QUERY, &query("SELECT * FROM system_schema.columns"));
    }),
    short("options pipelined and never read", |target| pipelined(target, OPTIONS, b"")),
    long("counts pipelined", |target| {
        pipelined(target, QUERY, &query("SELECT count(*) FROM k.wide"))
    }),
    long("errors pipelined", |target| {
        pipelined(target, QUERY, &query("SELECT nothing FROM k.none"))
    }),
    long("unknown statements executed", |target| {
        pipelined(target, EXECUTE, b"\0\x10aaaaaaaaaaaaaaaa\0\x01\0");
    }),
    long("registrations", |target| pipelined(target, REGISTER, b"\0\x01\0\x0dSCHEMA_CHANGE")),
    short("announced requests", announced),
    short("large requests that never end", half_requests),
    long("requests byte by byte", |target| trickle(target, &envelope(1, QUERY, &[0; 100_000]))),
    short("statements of many parts", many_parts),
    long("a statement of deep lists", |target| {
        let text =
            format!("SELECT v FROM k.one WHERE a = {}1{}", "[".repeat(50_000), "]".repeat(50_000));
        let _ = target.cql().ask(&text);
    }),
    long("a statement of deep parentheses", |target| {
        let text = format!("SELECT {}a{} FROM k.one", "(".repeat(50_000), ")".repeat(50_000));
        let _ = target.cql().ask(&text);
    }),
    long("a long literal", |target| {
        let text =
            format!("INSERT INTO k.wide (a, b, v) VALUES (2, 1, 0x{})", "00".repeat(4 << 20));
        let _ = target.cql().ask(&text);
    }),
    short("a column that is selected many times", |target| {
        let columns = vec!["v"; 2_000].join(", ");
        unread(target, 4, &format!("SELECT {columns} FROM k.wide WHERE a = 1 LIMIT 3"));
    }),
    short("a value that is put together from many", |target| {
        let all = vec!["v"; 10_000].join(", ");
        for begin in ["", "JSON "] {
            let text = format!("SELECT {begin}[{all}] FROM k.wide WHERE a = 1 AND b = 1");
            let refused = target.cql().ask(&text).unwrap().error();
            assert!(
                refused.as_ref().is_some_and(|own| matches!(own.0, 0x2200 | 0x1001)),
                "{refused:?}"
            );
        }
    }),
    long("prepared statements without end", prepared),
    short("prepared statements of many parts", prepared_parts),
    long("names of values", named_values),
    long("batches of prepared statements", prepared_batch),
    short("bodies that never end", |target| half_bodies(target, 15 << 20)),
    long("bodies of one byte each", |target| half_bodies(target, 1)),
    long("bodies in small chunks", chunks),
    short("bodies of many small values", |target| {
        let values = r#"{"N":"1"},"#.repeat(1_500_000);
        small_values(target, &format!(r#"{{"L":[{values}{{"N":"1"}}]}}"#));
    }),
    short("sets of many numbers", |target| {
        let members: Vec<String> = (0..1_500_000).map(|number| format!(r#""{number}""#)).collect();
        small_values(target, &format!(r#"{{"NS":[{}]}}"#, members.join(",")));
    }),
    long("a compressed bomb", bomb),
    short("small bodies that are large", small_packed),
    short("answers of DynamoDB that nobody reads", unread_pages),
    long("pipelined HTTP requests", pipelined_http),
    long("heads that never end", |target| slow(&target.dynamodb, b"POST / HTTP/1.1\r\nHost: ")),
    long("heads of many headers", many_headers),
    long("greetings of TLS", |target| slow(&target.dynamodb, b"\x16\x03\x01\x02\x00\x01\x00")),
    short("both Content-Length and Transfer-Encoding", both_lengths),
    short("idle CQL connections", |target| idle(target, &target.cql, true)),
    long("silent CQL connections", |target| idle(target, &target.cql, false)),
    long("silent HTTP connections", |target| idle(target, &target.dynamodb, false)),
    long("connections that come and go", come_and_go),
];

/// On a server that asks who they are.
pub(super) const GUARDED: &[Attack] = &[
    short("bodies without a signature", |target| refused_bodies(target, "")),
    short("bodies with an unknown key", |target| refused_bodies(target, UNKNOWN_KEY)),
    short("bodies of a key that is known", stranger_bodies),
    short("large logins", |target| {
        let body = [&(40_u32 << 20).to_be_bytes()[..], &vec![0; 40 << 20]].concat();
        (0..8).for_each(|_| stranger_sends(target, 15, &body));
    }),
    short("large statements before the login", |target| {
        let text = " ".repeat(30 << 20);
        (0..8).for_each(|_| stranger_sends(target, QUERY, &query(&text)));
    }),
    long("logins that fail", |target| {
        for _ in 0..target.count(2, 20) {
            assert!(Cql::log_in(&target.cql, PATIENCE, "ann", "wrong").is_err());
        }
    }),
    short("strangers' connections", |target| idle(target, &target.cql, true)),
];

fn list(count: usize) -> String {
    (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(",")
}

/// Four lists of a thousand are a million million keys.
fn refused_product(target: &Target, statement: &str) {
    let all = list(1000);
    let text = format!(
        "{statement} WHERE a IN ({all}) AND b IN ({all}) AND c IN ({all}) AND d IN ({all})"
    );
    let refused = target.cql().ask(&text).unwrap().error().unwrap();
    assert!(refused.0 == 0x2200 && refused.1.contains("cartesian product"), "{refused:?}");
    // Each of the two parts alone is allowed, what they come to together is not.
    let few = list(200);
    let text = format!(
        "{statement} WHERE a IN ({few}) AND b IN ({few}) AND c IN ({few}) AND d IN ({few})"
    );
    let refused = target.cql().ask(&text).unwrap().error().unwrap();
    assert!(refused.0 == 0x2200 && refused.1.contains("1600000000 values"), "{refused:?}");
}

fn tuples(target: &Target) {
    let all = list(300);
    let pairs: Vec<String> = (0..300).map(|number| format!("({number},{number})")).collect();
    let text = format!(
        "SELECT v FROM k.keys WHERE a IN ({all}) AND b = 1 AND (c, d) IN ({})",
        pairs.join(",")
    );
    let refused = target.cql().ask(&text).unwrap().error().unwrap();
    assert!(refused.1.contains("90000 values"), "{refused:?}");
}

/// 250 keys of 60 KB each, twice: 15 MB that would be 7 GB.
fn long_keys(target: &Target) {
    let mut value = 250_u32.to_be_bytes().to_vec();
    for number in 0..250 {
        value.extend(60_000_u32.to_be_bytes());
        value.extend(format!("{number:060000}").as_bytes());
    }
    let mut client = target.cql();
    let text = "SELECT v FROM k.texts WHERE a IN ? AND b IN ?";
    client.send(QUERY, &query_with(text, &[&value, &value])).unwrap();
    let refused = client.answer().unwrap().error().unwrap();
    assert!(matches!(refused.0, 0x2200 | 0x1001), "{refused:?}");
}

fn markers_product(target: &Target, statement: &str) {
    let mut value = 60_000_u32.to_be_bytes().to_vec();
    for number in 0..60_000_u32 {
        value.extend(4_u32.to_be_bytes());
        value.extend(number.to_be_bytes());
    }
    let text = format!("{statement} WHERE a = 1 AND b = 1 AND c IN ? AND d IN ?");
    let mut client = target.cql();
    client.send(QUERY, &query_with(&text, &[&value, &value])).unwrap();
    let refused = client.answer().unwrap().error().unwrap();
    assert!(refused.1.contains("3600000000 values"), "{refused:?}");
}

/// A megabyte, written to thousands of rows.
fn value_for_many(target: &Target) {
    let text = format!("UPDATE k.wide SET v = ? WHERE a IN ({}) AND b = 1", list(20_000));
    let mut client = target.cql();
    client.send(QUERY, &query_with(&text, &[&vec![1; 1 << 20]])).unwrap();
    let refused = client.answer().unwrap().error().unwrap();
    assert!(refused.1.contains("oversized mutation"), "{refused:?}");
}

fn conditional_batches(target: &Target) {
    let count = target.count(4_000, 24_000);
    let inserts: String = (0..count)
        .map(|number| format!("INSERT INTO k.cas (a, b, v) VALUES (1, {number}, 1) IF NOT EXISTS;"))
        .collect();
    let text = format!("BEGIN BATCH {inserts} APPLY BATCH");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| target.cql().ask(&text).unwrap());
        }
    });
}

fn large_batch(target: &Target) {
    let inserts: String = (0..3_000)
        .map(|number| format!("INSERT INTO k.one (a, v) VALUES ({}, 1);", number + 10))
        .collect();
    let refused = target.cql().ask(&format!("BEGIN BATCH {inserts} APPLY BATCH")).unwrap();
    assert_eq!(refused.error().unwrap(), (0x2200, "Batch too large".to_owned()));
}

fn batch_text(target: &Target, begin: &str, over_partitions: bool, count: usize) {
    let inserts: String = (0..count)
        .map(|number| {
            let partition = if over_partitions { number } else { 7 };
            format!("INSERT INTO k.cas (a, b, v) VALUES ({partition}, {number}, 1);")
        })
        .collect();
    let _ = target.cql().ask(&format!("{begin} {inserts} APPLY BATCH")).unwrap();
}

/// All of the wide partition at once: far more than a connection's part of memory.
fn unpaged_read(target: &Target) {
    let answer = target.cql().ask("SELECT * FROM k.wide WHERE a = 1").unwrap();
    assert_eq!(answer.opcode, 8, "{:?}", answer.error());
    let rows = target.count(96, 400) as u64;
    assert!(answer.length > rows << 20 && answer.length < (rows << 20) + (1 << 16));
}

/// Asks for something and reads nothing, on several connections for a while.
fn unread(target: &Target, connections: usize, text: &str) {
    let mut clients: Vec<Cql> = (0..connections).map(|_| target.cql()).collect();
    for client in &mut clients {
        client.send(QUERY, &query(text)).unwrap();
    }
    std::thread::sleep(Duration::from_secs(target.count(1, 2) as u64));
}

fn unpaged_unread(target: &Target) {
    unread(target, target.count(6, 19), "SELECT * FROM k.wide WHERE a = 1");
}

fn large_pages(target: &Target) {
    let mut body = query("SELECT * FROM k.wide");
    // A page of 100,000 rows.
    let flags = body.len() - 1;
    body[flags] = 4;
    body.extend(100_000_u32.to_be_bytes());
    let mut clients: Vec<Cql> = (0..8).map(|_| target.cql()).collect();
    for client in &mut clients {
        for _ in 0..4 {
            client.send(QUERY, &body).unwrap();
        }
    }
    std::thread::sleep(Duration::from_secs(4));
}

/// Sends the same without end on many connections and reads nothing.
fn pipelined(target: &Target, opcode: u8, body: &[u8]) {
    let one = envelope(1, opcode, body);
    let many = one.repeat((64 << 10) / one.len() + 1);
    let until = Instant::now() + Duration::from_secs(target.count(1, 4) as u64);
    let mut clients: Vec<TcpStream> =
        (0..target.count(30, 200)).map(|_| target.cql().stream).collect();
    for client in &clients {
        client.set_write_timeout(Some(Duration::from_millis(5))).unwrap();
    }
    while Instant::now() < until && !clients.is_empty() {
        clients.retain_mut(|client| match client.write_all(&many) {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
        });
    }
}

fn announced(target: &Target) {
    let head = [&[4, 0, 0, 1, QUERY][..], &(250_u32 << 20).to_be_bytes(), b"begin"].concat();
    for _ in 0..target.count(20, 200) {
        let mut client = target.cql();
        client.stream.write_all(&head).unwrap();
        // It could never come.
        assert_eq!(client.answer().unwrap().error().unwrap().0, 0x2200);
    }
}

/// Sends most of a large request on many connections.
fn half_requests(target: &Target) {
    let head = [&[4, 0, 0, 1, QUERY][..], &(30_u32 << 20).to_be_bytes()].concat();
    let some = vec![b' '; 1 << 20];
    let mut clients: Vec<TcpStream> =
        (0..target.count(20, 60)).map(|_| target.cql().stream).collect();
    for client in &mut clients {
        client.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        let _ = client.write_all(&head);
    }
    for _ in 0..29 {
        // Those that are refused cannot go on.
        clients.retain_mut(|client| client.write_all(&some).is_ok());
    }
}

fn trickle(target: &Target, bytes: &[u8]) {
    let mut clients: Vec<TcpStream> = (0..50).map(|_| target.cql().stream).collect();
    for byte in bytes.iter().take(200) {
        clients.retain_mut(|client| client.write_all(&[*byte]).is_ok());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Text that becomes much more than it is.
fn many_parts(target: &Target) {
    let text =
        format!("SELECT v FROM k.one WHERE a IN ({})", list(target.count(500_000, 2_000_000)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Who gets no room in time is refused, or cut off while he is still sending.
                if let Ok(refused) = target.cql().ask(&text) {
                    assert_eq!(refused.opcode, 0);
                }
            });
        }
    });
}

/// A megabyte of text each that would become hundreds.
fn prepared_parts(target: &Target) {
    let text = format!("SELECT v FROM k.one WHERE a IN ({})", vec!["1"; 500_000].join(","));
    let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    body.extend(text.as_bytes());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = target.cql();
                // As above: refused, or cut off.
                if client.send(PREPARE, &body).is_ok()
                    && let Ok(refused) = client.answer()
                {
                    assert_eq!(refused.opcode, 0);
                }
            });
        }
    });
}

fn prepared(target: &Target) {
    let mut client = target.cql();
    let until = Instant::now() + Duration::from_secs(5);
    for number in 0..100_000 {
        if Instant::now() > until {
            break;
        }
        let text = format!("SELECT v FROM k.one WHERE a IN ({}) /* {number} */", list(2_000));
        let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        body.extend(text.as_bytes());
        if client.send(PREPARE, &body).and_then(|()| client.answer()).is_err() {
            client = target.cql();
        }
    }
}

fn named_values(target: &Target) {
    let markers: Vec<String> = (0..30_000).map(|number| format!(":n{number}")).collect();
    let text = format!("SELECT v FROM k.one WHERE a IN ({})", markers.join(","));
    let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    body.extend(text.as_bytes());
    body.extend([0, 1, 0x41]);
    body.extend(30_000_u16.to_be_bytes());
    for number in (0..30_000).rev() {
        let name = format!("n{number}");
        body.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
        body.extend(name.as_bytes());
        body.extend([0, 0, 0, 4, 0, 0, 0, 1]);
    }
    let mut client = target.cql();
    client.send(QUERY, &body).unwrap();
    assert_eq!(client.answer().unwrap().opcode, 8);
}

fn prepared_batch(target: &Target) {
    let mut client = target.cql();
    let text = "INSERT INTO k.cas (a, b, v) VALUES (9, ?, 1) IF NOT EXISTS";
    let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    body.extend(text.as_bytes());
    client.send(PREPARE, &body).unwrap();
    let id = client.answer().unwrap().body[4..22].to_vec();
    let mut body = vec![0];
    body.extend(60_000_u16.to_be_bytes());
    for number in 0..60_000_u32 {
        body.push(1);
        body.extend(&id);
        body.extend([0, 1, 0, 0, 0, 4]);
        body.extend(number.to_be_bytes());
    }
    body.extend([0, 1, 0]);
    client.send(BATCH, &body).unwrap();
    client.answer().unwrap();
}

/// Sends all but the last bytes of bodies.
fn half_bodies(target: &Target, sent: usize) {
    begun(target, target.count(12, 320), &post("PutItem", 16 << 20, ""), sent);
}

/// Sends a head and a part of its body on many connections at once, and keeps them for a while.
fn begun(target: &Target, count: usize, head: &[u8], sent: usize) {
    let some = vec![b' '; sent];
    std::thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                let connected = connect(&target.dynamodb, Duration::from_millis(300));
                let Ok(mut client) = connected else { return };
                let _ = client.write_all(head);
                let _ = client.write_all(&some);
                std::thread::sleep(Duration::from_secs(1));
            });
        }
    });
}

fn chunks(target: &Target) {
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    let some = "1\r\nx\r\n".repeat(100_000);
    let mut clients: Vec<TcpStream> = (0..20)
        .filter_map(|_| connect(&target.dynamodb, Duration::from_millis(300)).ok())
        .collect();
    for client in &mut clients {
        let _ = client.write_all(head.as_bytes());
    }
    for _ in 0..8 {
        clients.retain_mut(|client| client.write_all(some.as_bytes()).is_ok());
    }
}

/// Text of few bytes each that becomes values of many.
fn small_values(target: &Target, value: &str) {
    let body = format!(
        r#"{{"TableName":"tab","Item":{{"pk":{{"S":"b"}},"sk":{{"S":"1"}},"l":{value}}}}}"#
    );
    let request = call("PutItem", &body);
    std::thread::scope(|scope| {
        for _ in 0..target.count(4, 16) {
            scope.spawn(|| {
                let status = http(&target.dynamodb, PATIENCE, &request);
                assert!(matches!(status, 400 | 413 | 503), "{status}");
            });
        }
    });
}

/// Bodies of 16 KiB that hold 15 MiB each.
fn small_packed(target: &Target) {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packed.write_all(&vec![b' '; 15 << 20]).unwrap();
    let body = packed.finish().unwrap();
    let mut request = post("PutItem", body.len(), "Content-Encoding: gzip\r\n");
    request.extend(&body);
    std::thread::scope(|scope| {
        for _ in 0..target.count(12, 200) {
            scope.spawn(|| {
                let status = http(&target.dynamodb, PATIENCE, &request);
                assert!(matches!(status, 400 | 413 | 503), "{status}");
            });
        }
    });
}

fn bomb(target: &Target) {
    // 16 KiB of a gzip whose one block of length 0 comes again and again: nothing, slowly.
    let mut body = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    body.extend([0, 0, 0, 0xff, 0xff].repeat(3_000_000));
    let mut request = post("PutItem", body.len(), "Content-Encoding: gzip\r\n");
    request.extend(body);
    assert_eq!(http(&target.dynamodb, PATIENCE, &request), 500);
}

fn unread_pages(target: &Target) {
    let value = "x".repeat(300_000);
    for number in 0..4 {
        let body = format!(
            r#"{{"TableName":"tab","Item":{{"pk":{{"S":"large"}},"sk":{{"S":"{number}"}},"v":{{"S":"{value}"}}}}}}"#
        );
        assert_eq!(http(&target.dynamodb, PATIENCE, &call("PutItem", &body)), 200);
    }
    let keys: Vec<String> = (0..4)
        .map(|number| format!(r#"{{"pk":{{"S":"large"}},"sk":{{"S":"{number}"}}}}"#))
        .collect();
    let body = format!(r#"{{"RequestItems":{{"tab":{{"Keys":[{}]}}}}}}"#, keys.join(","));
    let request = call("BatchGetItem", &body);
    let mut clients: Vec<TcpStream> = (0..target.count(80, 500))
        .filter_map(|_| connect(&target.dynamodb, Duration::from_millis(300)).ok())
        .collect();
    for client in &mut clients {
        let _ = client.write_all(&request.repeat(4));
    }
    std::thread::sleep(Duration::from_secs(2));
}

fn pipelined_http(target: &Target) {
    let many = call("ListTables", "{}").repeat(300);
    let until = Instant::now() + Duration::from_secs(4);
    let mut clients: Vec<TcpStream> =
        (0..100).filter_map(|_| connect(&target.dynamodb, Duration::from_millis(5)).ok()).collect();
    while Instant::now() < until && !clients.is_empty() {
        clients.retain_mut(|client| match client.write_all(&many) {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
        });
    }
}

/// Sends the beginning of something on many connections.
fn slow(address: &str, begin: &[u8]) {
    let mut clients: Vec<TcpStream> =
        (0..300).filter_map(|_| connect(address, Duration::from_millis(300)).ok()).collect();
    for _ in 0..20 {
        clients.retain_mut(|client| client.write_all(begin).is_ok());
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn many_headers(target: &Target) {
    let headers: String = (0..5_000).map(|number| format!("h{number}: x\r\n")).collect();
    let request = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n");
    for _ in 0..50 {
        assert_eq!(http(&target.dynamodb, PATIENCE, request.as_bytes()), 431);
    }
}

fn both_lengths(target: &Target) {
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (lengths, status) in [
        ("Content-Length: 3\r\nTransfer-Encoding: chunked", "400"),
        ("Transfer-Encoding: chunked\r\nContent-Length: 3", "400"),
        // One alone is no fault; its body is read, and nothing behind it.
        ("Transfer-Encoding: chunked", "404"),
    ] {
        let mut client = connect(&target.dynamodb, PATIENCE).unwrap();
        let request = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: x\r\n{lengths}\r\n\r\n0\r\n\r\n{smuggled}"
        );
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        let _ = client.read_to_string(&mut answer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{lengths}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{lengths}: {answer}");
    }
}

/// More connections than there are places; newcomers of both faces are served all the same.
fn idle(target: &Target, address: &str, says_hello: bool) {
    let mut clients = Vec::new();
    for _ in 0..target.count(900, 10_000) {
        let Ok(mut client) = connect(address, Duration::from_secs(5)) else { break };
        if says_hello {
            let _ = client.write_all(&startup());
        }
        clients.push(client);
    }
    let mut cql = connect(&target.cql, PATIENCE).unwrap();
    cql.write_all(&envelope(0, OPTIONS, b"")).unwrap();
    let mut head = [0; 9];
    cql.read_exact(&mut head).unwrap();
    assert_eq!(head[4], 6);
    assert_eq!(http(&target.dynamodb, PATIENCE, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
}

fn come_and_go(target: &Target) {
    for _ in 0..2_000 {
        drop(connect(&target.cql, PATIENCE).unwrap());
        drop(connect(&target.dynamodb, PATIENCE).unwrap());
    }
}

const UNKNOWN_KEY: &str = "Authorization: AWS4-HMAC-SHA256 Credential=YOU/20261123/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=00\r\nX-Amz-Date: 20261123T000000Z\r\n";

/// Bodies that are refused before they are there.
fn refused_bodies(target: &Target, signature: &str) {
    let head = post("PutItem", 16 << 20, signature);
    for _ in 0..target.count(50, 320) {
        assert_eq!(http(&target.dynamodb, PATIENCE, &head), 400);
    }
}

/// A signature whose key is known and which is wrong: its body has to be read.
fn stranger_bodies(target: &Target) {
    // Wrong times are refused as unknown keys are; the clock of this test is that of the server.
    let head = post("PutItem", 16 << 20, &signed_now());
    begun(target, target.count(8, 200), &head, 15 << 20);
}

/// The headers of a signature of now.
fn signed_now() -> String {
    let seconds =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date, after Howard Hinnant's `civil_from_days`.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let date = format!("{year:04}{month:02}{day:02}");
    let time = format!("{date}T{:02}{:02}{:02}Z", rest / 3600, rest / 60 % 60, rest % 60);
    format!(
        "Authorization: AWS4-HMAC-SHA256 Credential=ME/{date}/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-target, Signature={}\r\nX-Amz-Date: {time}\r\n",
        "0".repeat(64)
    )
}

/// Sends something large before the login.
fn stranger_sends(target: &Target, opcode: u8, body: &[u8]) {
    let mut client = Cql::open(&target.cql, PATIENCE).unwrap();
    client.stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let _ = client.send(opcode, body);
    match client.answer() {
        Ok(answer) => assert_eq!(answer.opcode, 0),
        // Cut off while it was still sending.
        Err(error) => assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock),
    }
}
