//! Clients of the CQL face.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use shelfmark_cql_protocol::client::{
    ClientConnection, Page, ProtocolVersion, Query, Response, Result as Done,
};
use shelfmark_store::random::SplitMix;

use super::REQUESTS;
use super::world::{Log, PARTITIONS, Place, ROWS, Rows, World, below};

pub(super) struct Client {
    stream: TcpStream,
    connection: ClientConnection,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        let mut client = Self { stream, connection: ClientConnection::new(ProtocolVersion::V4) };
        let startup = client.connection.startup("histories");
        assert_eq!(client.say(&startup), Response::Ready);
        client
    }

    fn say(&mut self, bytes: &[u8]) -> Response {
        self.stream.write_all(bytes).unwrap();
        let mut some = [0; 4096];
        loop {
            let count = self.stream.read(&mut some).unwrap();
            assert!(count > 0, "closed");
            if let Some(response) = self.connection.receive(&some[..count]).unwrap() {
                return response;
            }
        }
    }

    pub(super) fn run(&mut self, text: &str) -> Done {
        let query = self.connection.query(&Query { text, ..Query::default() });
        match self.say(&query) {
            Response::Result(done) => done,
            other => panic!("{text}: {other:?}"),
        }
    }

    /// Returns the rows of a statement that gives `p`, `c` and `v`, among others.
    pub(super) fn rows(&mut self, text: &str) -> Rows {
        read(&self.run(text).page.unwrap())
    }
}

fn place_of(page: &Page, name: &str) -> Option<usize> {
    page.columns.iter().position(|column| column.name.as_ref() == name)
}

fn read(page: &Page) -> Rows {
    let [p, c, v] = ["p", "c", "v"].map(|name| place_of(page, name).unwrap());
    let number = |row: &[Option<bytes::Bytes>], at: usize| {
        u8::try_from(i32::from_be_bytes(row[at].as_deref().unwrap().try_into().unwrap())).unwrap()
    };
    let text = |value: &Option<bytes::Bytes>| {
        String::from_utf8(value.as_deref().unwrap_or_default().to_vec()).unwrap()
    };
    page.rows.iter().map(|row| ((number(row, p), number(row, c)), text(&row[v]))).collect()
}

/// Tells whether a conditional statement was applied.
fn is_applied(page: &Page) -> bool {
    let at = place_of(page, "[applied]").unwrap();
    page.rows[0][at].as_deref() == Some(&[1])
}

fn update((partition, row): Place, old: &str, new: &str) -> String {
    let condition = match old {
        "" => "v = null".to_owned(),
        old => format!("v = '{old}'"),
    };
    format!("UPDATE h.t SET v = '{new}' WHERE p = {partition} AND c = {row} IF {condition}")
}

/// Does one client's requests.
pub(super) fn work(world: &World, log: &Log, seed: u64) {
    let (mut random, mut client) = (SplitMix::new(seed), Client::connect(world.cql));
    for _ in 0..REQUESTS {
        let partition = below(&mut random, PARTITIONS);
        let row = below(&mut random, ROWS);
        match below(&mut random, 3) {
            0 => {
                let begun = log.begin("SELECT");
                let saw = select(&mut client, partition);
                log.done(begun, &saw, &[]);
            }
            1 => append(&mut client, log, (partition, row)),
            _ => {
                append_to_both(&mut client, log, [(partition, row), (partition, (row + 1) % ROWS)])
            }
        }
    }
}

/// Reads a partition.
fn select(client: &mut Client, partition: u8) -> Vec<(Place, String)> {
    let rows = client.rows(&format!("SELECT p, c, v FROM h.t WHERE p = {partition}"));
    let all = (0..ROWS).map(|row| (partition, row));
    all.map(|place| (place, rows.get(&place).cloned().unwrap_or_default())).collect()
}

fn value_of(saw: &[(Place, String)], place: Place) -> String {
    saw.iter().find(|(own, _)| *own == place).unwrap().1.clone()
}

/// Appends to a row by a conditional update.
fn append(client: &mut Client, log: &Log, place: Place) {
    let old = value_of(&select(client, place.0), place);
    let begun = log.begin("UPDATE IF");
    let new = begun.append(&old);
    let page = client.run(&update(place, &old, &new)).page.unwrap();
    if is_applied(&page) {
        log.done(begun, &[(place, old)], &[place]);
        return;
    }
    // A row that is not there is told without its columns.
    let told = place_of(&page, "v").and_then(|at| page.rows[0][at].clone());
    let told = String::from_utf8(told.unwrap_or_default().to_vec()).unwrap();
    log.told(begun, &[(place, told)]);
}

/// Appends to two rows of a partition by a conditional batch.
fn append_to_both(client: &mut Client, log: &Log, places: [Place; 2]) {
    let saw = select(client, places[0].0);
    let olds = places.map(|place| (place, value_of(&saw, place)));
    let begun = log.begin("BATCH IF");
    let updates = olds.clone().map(|(place, old)| update(place, &old, &begun.append(&old)));
    let page = client.run(&format!("BEGIN BATCH {}; {}; APPLY BATCH", updates[0], updates[1]));
    if is_applied(&page.page.unwrap()) {
        log.done(begun, &olds, &places);
    } else {
        log.refused(begun, &places);
    }
}

/// Changes the table and others beside it, `times` times.
pub(super) fn change_schema(world: &World, times: usize) {
    let mut client = Client::connect(world.cql);
    for number in 0..times {
        client.run(&format!("ALTER TABLE h.t ADD more{number} int"));
        client.run(&format!("CREATE TABLE h.other{number} (k int PRIMARY KEY, v text)"));
        client.run(&format!("INSERT INTO h.other{number} (k, v) VALUES (1, 'one')"));
        client.run(&format!("DROP TABLE h.other{number}"));
    }
}
