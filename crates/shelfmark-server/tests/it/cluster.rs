//! What clients of a server, and whoever runs it, hear of the others on the same cluster.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use shelfmark_cql_protocol::client::{ClientConnection, ProtocolVersion};
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::memory::MemoryStore;

use crate::histories::cluster;
use crate::histories::world::World;

/// A lease is 10 s, and servers look at each other every second.
const TOLD_WITHIN: Duration = Duration::from_secs(20);
const EVENT: u8 = 0x0c;
const REGISTER: u8 = 0x0b;

/// A connection that registered for what happens to servers.
struct Listener {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Listener {
    fn connect(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TOLD_WITHIN)).unwrap();
        let startup = ClientConnection::new(ProtocolVersion::V4).startup("cluster");
        stream.write_all(&startup).unwrap();
        let mut body = vec![0, 2];
        for name in ["TOPOLOGY_CHANGE", "STATUS_CHANGE"] {
            body.extend(u16::try_from(name.len()).unwrap().to_be_bytes());
            body.extend(name.as_bytes());
        }
        let mut register = vec![4, 0, 0, 1, REGISTER];
        register.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
        register.extend(body);
        stream.write_all(&register).unwrap();
        Self { stream, received: Vec::new() }
    }

    /// Returns the next event: its kind, its change, and where the server is.
    fn next(&mut self) -> (String, String, SocketAddr) {
        loop {
            let (opcode, body) = self.frame();
            if opcode == EVENT {
                let mut rest = &body[..];
                let (kind, change) = (text(&mut rest), text(&mut rest));
                let [4, a, b, c, d, port @ ..] = rest else { panic!("no address: {rest:?}") };
                let port = u32::from_be_bytes(port.try_into().unwrap());
                let at = SocketAddr::from(([*a, *b, *c, *d], u16::try_from(port).unwrap()));
                return (kind, change, at);
            }
        }
    }

    fn frame(&mut self) -> (u8, Vec<u8>) {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).unwrap();
        let length = u32::from_be_bytes(head[5..].try_into().unwrap());
        self.received.resize(usize::try_from(length).unwrap(), 0);
        self.stream.read_exact(&mut self.received).unwrap();
        (head[4], self.received.clone())
    }
}

fn text(rest: &mut &[u8]) -> String {
    let (length, more) = rest.split_at(2);
    let length = u16::from_be_bytes(length.try_into().unwrap());
    let (text, more) = more.split_at(length.into());
    *rest = more;
    String::from_utf8(text.to_vec()).unwrap()
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn servers_that_come_and_go_on_a_cluster_are_told() {
    let space = format!("events-{:x}", SystemClock::new().now_micros());
    let first = World::new(cluster(&space));
    let mut listener = Listener::connect(first.cql);
    let second = World::again(cluster(&space));
    let of = |kind: &str, change: &str| (kind.to_owned(), change.to_owned(), second.cql);
    assert_eq!(listener.next(), of("TOPOLOGY_CHANGE", "NEW_NODE"));
    assert_eq!(listener.next(), of("STATUS_CHANGE", "UP"));
    let expected = [of("STATUS_CHANGE", "DOWN"), of("TOPOLOGY_CHANGE", "REMOVED_NODE")];
    second.stop();
    assert_eq!([listener.next(), listener.next()], expected);
    first.stop();
}

/// Asks a server for its health, in JSON or in words.
fn health(world: &World, accept: &str) -> String {
    let mut stream = TcpStream::connect(world.console).unwrap();
    let head = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    write!(stream, "{head}Accept: {accept}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!accept.contains("json") || head.contains("application/json"), "{head}");
    body.to_owned()
}

/// Returns the servers that the health page lists.
fn servers_of(world: &World) -> Vec<Value> {
    let body: Value = serde_json::from_str(&health(world, "application/json")).unwrap();
    assert_eq!(body["servers_unknown"], Value::Null, "{body}");
    body["servers"].as_array().unwrap().clone()
}

#[test]
fn a_server_alone_lists_itself() {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let world = World::new(Arc::new(MemoryStore::new(clock)));
    let servers = servers_of(&world);
    assert_eq!(servers.len(), 1, "{servers:?}");
    assert_eq!(servers[0]["cql"], world.cql.to_string());
    assert_eq!(servers[0]["dynamodb"], world.dynamodb.to_string());
    assert_eq!(servers[0]["console"], world.console.to_string());
    assert!(servers[0]["this"] == true && servers[0]["leads"] == true, "{servers:?}");
    assert!(servers[0]["since_ms"].as_u64().unwrap() > 0);
    let words = health(&world, "*/*");
    assert!(words.starts_with("healthy\nservers: 1\nserver alone "), "{words}");
    assert!(words.contains(&format!(" cql={} ", world.cql)), "{words}");
    world.stop();
}

#[test]
#[ignore = "needs a cluster: cargo xtask tikv"]
fn servers_on_a_cluster_list_each_other() {
    let space = format!("listed-{:x}", SystemClock::new().now_micros());
    let first = World::new(cluster(&space));
    let second = World::again(cluster(&space));
    for (world, other) in [(&first, &second), (&second, &first)] {
        let servers = servers_of(world);
        assert_eq!(servers.len(), 2, "{servers:?}");
        for (own, is_this) in [(world, true), (other, false)] {
            let at = own.dynamodb.to_string();
            let entry = servers.iter().find(|entry| entry["dynamodb"] == at).unwrap();
            assert_eq!(entry["this"], is_this);
            // The one that has been there longest.
            assert_eq!(entry["leads"], own.cql == first.cql);
            assert!(entry["renewed_ago_ms"].as_u64().unwrap() < 10_000, "{entry}");
        }
    }
    second.stop();
    assert_eq!(servers_of(&first).len(), 1);
    first.stop();
}
