//! Memory of requests and answers: what is refused for now and what for good, and what is written to
//! files or ends a page.

use shelfmark_cql_protocol::{Spool, Spools};

use super::*;

const OVERLOADED: i32 = 0x1001;
const INVALID: i32 = 0x2200;

/// Counts the files that answers go to, which lie in memory.
#[derive(Debug, Default)]
struct CountedSpools {
    files: AtomicUsize,
}

#[derive(Debug)]
struct InMemory(Vec<u8>);

impl Spools for CountedSpools {
    fn create(&self) -> std::io::Result<Box<dyn Spool>> {
        self.files.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(InMemory(Vec::new())))
    }
}

impl Spool for InMemory {
    fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn read(&self, offset: u64, mut buffer: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.0[usize::try_from(offset).unwrap()..];
        std::io::Write::write(&mut buffer, rest)
    }
}

/// A face whose clients share so many bytes, and the budget.
fn face_of(bytes: usize, spools: Option<Arc<dyn Spools>>) -> (Arc<Face>, Arc<Budget>) {
    let budget = Arc::new(Budget::new(bytes));
    let options = FaceOptions { budget: Arc::clone(&budget), spools, ..FaceOptions::default() };
    (face_with(None, options, Arc::new(Inline)), budget)
}

fn connected(face: &Arc<Face>) -> Connection {
    begun(connect(face))
}

fn begun(mut connection: Connection) -> Connection {
    let startup = envelope(4, 0, STARTUP, &map(&[("CQL_VERSION", "3.4.7")]));
    ask(&mut connection, &startup);
    connection
}

/// Sends a statement and returns the whole answer, of however many pieces.
fn answer(connection: &mut Connection, body: &BytesMut) -> (u8, Bytes) {
    connection.feed(&mut envelope(4, 1, QUERY, body));
    let mut all = BytesMut::new();
    loop {
        let piece = connection.take_output().unwrap();
        if piece.is_empty() {
            break;
        }
        all.extend_from_slice(&piece);
    }
    let (_, opcode, body) = answers(all.freeze()).remove(0);
    (opcode, body)
}

fn refusal(connection: &mut Connection, text: &str) -> (i32, String) {
    let (opcode, body) = answer(connection, &query(text));
    assert_eq!(opcode, ERROR, "{}", &text[..60]);
    error_text(&body)
}

/// Creates a table with so many rows of 200,000 bytes in a partition.
fn rows_of_200_kb(connection: &mut Connection, count: usize) {
    run(connection, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}");
    run(connection, "CREATE TABLE k.t (p int, c int, v text, PRIMARY KEY (p, c))");
    let value = "x".repeat(200_000);
    for row in 0..count {
        let text = format!("INSERT INTO k.t (p, c, v) VALUES (1, {row}, '{value}')");
        assert_eq!(answer(connection, &query(&text)).0, RESULT);
    }
}

#[test]
fn a_write_that_never_fits_is_refused_for_good_and_another_one_for_now() {
    let (face, budget) = face_of(8 << 20, None);
    let mut connection = connected(&face);
    rows_of_200_kb(&mut connection, 0);
    let insert =
        |bytes: usize| format!("INSERT INTO k.t (p, c, v) VALUES (1, 1, '{}')", "x".repeat(bytes));
    let (code, text) = refusal(&mut connection, &insert(1_500_000));
    assert_eq!(code, INVALID, "{text}");
    assert!(text.contains("raise --memory-limit"), "{text}");
    assert_eq!(answer(&mut connection, &query(&insert(500_000))).0, RESULT);
    let other = |host: u8, bytes: usize| {
        let mut share = budget.client([10, 0, 0, host].into(), true).share();
        assert!(share.cover(bytes));
        share
    };
    let others = [other(1, 4 << 20), other(2, 3 << 20)];
    let (code, text) = refusal(&mut connection, &insert(500_000));
    assert_eq!(code, OVERLOADED, "{text}");
    drop(others);
    assert_eq!(answer(&mut connection, &query(&insert(500_000))).0, RESULT);
    drop(connection);
    assert_eq!(budget.taken(), 0);
}

#[test]
fn a_request_that_no_client_gets_memory_for_is_not_to_come_again() {
    let (face, _) = face_of(2 << 20, None);
    let mut connection = connected(&face);
    let mut head = BytesMut::new();
    head.put_slice(&[4, 0, 0, 1, QUERY]);
    head.put_u32(3 << 20);
    let (progress, found) = ask(&mut connection, &head);
    assert_eq!(progress, Progress::Ended);
    let (code, text) = error_text(&found[0].2);
    assert!(code == INVALID && text.contains("raise --memory-limit"), "{code:x}: {text}");
}

#[test]
fn rows_of_a_condition_that_did_not_hold_are_read_within_the_budget_and_go_to_a_file() {
    let spools = Arc::new(CountedSpools::default());
    let (face, budget) = face_of(16 << 20, Some(Arc::clone(&spools) as _));
    let mut connection = connected(&face);
    rows_of_200_kb(&mut connection, 30);
    let batch = |count: usize| {
        let update = |row| format!("UPDATE k.t SET v = 'y' WHERE p = 1 AND c = {row} IF v = 'z';");
        format!("BEGIN BATCH {} APPLY BATCH", (0..count).map(update).collect::<String>())
    };
    let (code, text) = refusal(&mut connection, &batch(30));
    assert!(code == INVALID && text.contains("take more memory than one client gets"), "{text}");
    assert_eq!(spools.files.load(Ordering::Relaxed), 0);
    let (opcode, body) = answer(&mut connection, &query(&batch(10)));
    assert_eq!(opcode, RESULT);
    assert_eq!(spools.files.load(Ordering::Relaxed), 1);
    // [applied] is false, and the partition key behind it is 1.
    let begin = [0, 0, 0, 1, 0, 0, 0, 0, 4, 0, 0, 0, 1];
    assert_eq!(body.windows(begin.len()).filter(|own| *own == begin).count(), 10);
    assert!(body.len() > 10 * 200_000);
    drop(connection);
    assert_eq!(budget.taken(), 0);
}

#[test]
fn pages_of_a_trusted_connection_end_by_bytes() {
    let (face, _) = face_of(256 << 20, None);
    rows_of_200_kb(&mut connected(&face), 30);
    let page = |size: Option<u32>| {
        let mut body = query("SELECT * FROM k.t WHERE p = 1");
        if let Some(size) = size {
            // The flag that a page size follows.
            *body.last_mut().unwrap() = 4;
            body.put_u32(size);
        }
        body
    };
    let is_paged = |connection: Connection, size| {
        let (opcode, body) = answer(&mut begun(connection), &page(size));
        assert_eq!(opcode, RESULT);
        // Kind of the result, then the flags of its metadata.
        (body[7] & 2 != 0, body.len() < 5 << 20)
    };
    assert_eq!(is_paged(connect(&face).trusted(), Some(100)), (true, true));
    assert_eq!(is_paged(connect(&face), Some(100)), (false, false));
    assert_eq!(is_paged(connect(&face).trusted(), None), (false, false), "it has one page");
}
