//! Large exports and imports: they answer at once, do not wait for each other, and go on after a restart.

use std::io::{self, Read, Write as _};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use shelfmark_dynamo::{BucketObject, Buckets, Face, FaceOptions, RequestHead};
use shelfmark_engine::{Engine, Environment, SeededRandom, Upkeep};
use shelfmark_store::clock::{Clock, ManualClock};
use shelfmark_store::memory::MemoryStore;
use shelfmark_store::sleep::{Sleeper as _, ThreadSleeper};

use crate::buckets::MemoryBuckets;

/// Items of the large object.
const ITEMS: usize = 12_000;

/// A bucket whose objects take their time to read.
struct SlowBuckets {
    clock: Arc<ManualClock>,
    inner: MemoryBuckets,
}

struct SlowObject {
    clock: Arc<ManualClock>,
    object: Box<dyn Read + Send>,
}

impl Read for SlowObject {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(8 * 1024);
        let read = self.object.read(&mut buffer[..most])?;
        self.clock.advance(Duration::from_millis(if read > 1_024 { 5 } else { 0 }));
        Ok(read)
    }
}

impl Buckets for SlowBuckets {
    fn has(&self, bucket: &str) -> bool {
        self.inner.has(bucket)
    }

    fn put(&self, bucket: &str, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.inner.put(bucket, key, bytes)
    }

    fn list(&self, bucket: &str, prefix: &str, limit: usize) -> io::Result<Vec<BucketObject>> {
        self.inner.list(bucket, prefix, limit)
    }

    fn open(&self, bucket: &str, key: &str) -> io::Result<Box<dyn Read + Send>> {
        let object = self.inner.open(bucket, key)?;
        Ok(Box::new(SlowObject { clock: Arc::clone(&self.clock), object }))
    }
}

struct Bed {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
    buckets: Arc<SlowBuckets>,
    engine: Engine,
    face: Face,
}

impl Bed {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at_micros(1_793_610_000_000_000));
        let store = Arc::new(MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>));
        let inner = MemoryBuckets::default();
        let buckets = Arc::new(SlowBuckets { clock: Arc::clone(&clock), inner });
        Self::open(store, clock, buckets)
    }

    fn open(store: Arc<MemoryStore>, clock: Arc<ManualClock>, buckets: Arc<SlowBuckets>) -> Self {
        let environment = Environment {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            random: Arc::new(SeededRandom::new(1)),
        };
        let engine = Engine::open(Arc::clone(&store) as _, environment.clone()).unwrap();
        let face = Face::new(engine.clone(), environment, FaceOptions::default());
        let face = face.with_buckets(Arc::clone(&buckets) as _);
        Self { store, clock, buckets, engine, face }
    }

    fn reopened(self) -> Self {
        let Self { store, clock, buckets, .. } = self;
        Self::open(store, clock, buckets)
    }

    fn call(&self, operation: &str, body: &Value) -> Value {
        let reply = self.face.call(&RequestHead::operation(operation), body.to_string().as_bytes());
        let answer = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(reply.status, 200, "{operation}: {answer}");
        answer
    }

    /// Begins an import, and returns its ARN.
    fn import(&self, table: &str, packing: &str) -> String {
        self.import_as(table, packing, "DYNAMODB_JSON")
    }

    fn import_as(&self, table: &str, packing: &str, format: &str) -> String {
        let request = json!({
            "ClientToken": table,
            "S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": format!("{table}/")},
            "InputFormat": format, "InputCompressionType": packing,
            "TableCreationParameters": of_table(table)
        });
        let answer = self.call("ImportTable", &request);
        answer["ImportTableDescription"]["ImportArn"].as_str().unwrap().to_owned()
    }

    fn imported(&self, arn: &str) -> Value {
        self.call("DescribeImport", &json!({"ImportArn": arn}))["ImportTableDescription"].take()
    }

    /// Lets the background work until `seen` returns something.
    fn until<T>(&self, mut seen: impl FnMut() -> Option<T>) -> T {
        let _upkeep = Upkeep::start(&self.engine, Duration::from_millis(5)).unwrap();
        for _ in 0..24_000 {
            if let Some(seen) = seen() {
                return seen;
            }
            ThreadSleeper.sleep(Duration::from_millis(5));
        }
        panic!("the background does not get on");
    }
}

fn of_table(name: &str) -> Value {
    json!({
        "TableName": name, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"}]
    })
}

fn line(number: usize) -> String {
    // What cannot be packed well, so that a packed object is large, too.
    let seed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let text: String =
        (0..10).map(|part| format!("{:016x}", seed.rotate_left(part * 7) ^ seed)).collect();
    format!("{{\"Item\":{{\"p\":{{\"S\":\"{number:06}\"}},\"v\":{{\"S\":\"{text}\"}}}}}}\n")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// Imports a large object beside a small one, over a restart.
fn check_large(packing: &str) {
    let bed = Bed::new();
    let text: String = (0..ITEMS).map(line).collect();
    let packed = |text: &str| match packing {
        "GZIP" => gzip(text.as_bytes()),
        _ => text.as_bytes().to_vec(),
    };
    bed.buckets.put("bucket", "Large/a", &packed(&text)).unwrap();
    bed.buckets.put("bucket", "Small/a", &packed(&line(1))).unwrap();

    // The call ends within the object, and what it did is written down.
    let large = bed.import("Large", packing);
    let begun = bed.imported(&large);
    assert_eq!(begun["ImportStatus"], "IN_PROGRESS");
    let first = begun["ImportedItemCount"].as_u64().unwrap();
    assert!(first > 0 && first < ITEMS as u64, "{begun}");
    // Another one does not wait for it.
    let small = bed.import("Small", packing);
    assert_eq!(bed.imported(&small)["ImportStatus"], "COMPLETED");
    assert_eq!(bed.imported(&large)["ImportedItemCount"], json!(first));

    // After a restart it goes on where it was: nothing is counted twice, and nothing is left out.
    let bed = bed.reopened();
    let ended = bed.until(|| {
        Some(bed.imported(&large)).filter(|import| import["ImportStatus"] != "IN_PROGRESS")
    });
    assert_eq!(ended["ImportStatus"], "COMPLETED", "{ended}");
    assert_eq!(ended["ProcessedItemCount"], json!(ITEMS));
    assert_eq!(ended["ImportedItemCount"], json!(ITEMS));
    assert_eq!(ended["ProcessedSizeBytes"], json!(text.len()));
    let described = bed.call("DescribeTable", &json!({"TableName": "Large"}));
    assert_eq!(described["Table"]["ItemCount"], json!(ITEMS));
}

#[test]
fn a_large_object_is_imported_in_slices() {
    check_large("NONE");
}

#[test]
fn a_large_packed_object_is_imported_in_slices() {
    check_large("GZIP");
}

#[test]
fn many_large_imports_end_though_few_are_read_at_once() {
    let bed = Bed::new();
    let text: String = (0..ITEMS / 4).map(line).collect();
    let begin = |number: usize| {
        let table = format!("Table{number:02}");
        bed.buckets.put("bucket", &format!("{table}/a"), text.as_bytes()).unwrap();
        bed.import(&table, "NONE")
    };
    let mut open: Vec<String> = (0..12).map(begin).collect();
    assert!(open.iter().all(|arn| bed.imported(arn)["ImportStatus"] == "IN_PROGRESS"));
    bed.until(|| {
        open.retain(|arn| {
            let import = bed.imported(arn);
            let is_open = import["ImportStatus"] == "IN_PROGRESS";
            assert!(is_open || import["ImportedItemCount"] == json!(ITEMS / 4), "{import}");
            is_open
        });
        open.is_empty().then_some(())
    });
}

#[test]
fn a_name_that_is_too_long_is_refused_in_an_import_as_in_a_put() {
    let bed = Bed::new();
    let item = |key: &str, length: usize| {
        let mut item = json!({"p": {"S": key}});
        item["n".repeat(length)] = json!({"S": "v"});
        format!("{}\n", json!({"Item": item}))
    };
    let text = item("long", 65_536) + &item("fits", 65_535);
    bed.buckets.put("bucket", "Names/a", text.as_bytes()).unwrap();
    let arn = bed.import("Names", "NONE");
    let ended = bed.until(|| {
        Some(bed.imported(&arn)).filter(|import| import["ImportStatus"] != "IN_PROGRESS")
    });
    assert_eq!(ended["ErrorCount"], json!(1), "{ended}");
    assert_eq!(ended["ImportedItemCount"], json!(1), "{ended}");
}

/// An import whose buckets are gone waits, says so, and keeps nobody from deleting its table.
#[test]
fn an_import_without_buckets_is_told_and_can_be_given_up() {
    let bed = Bed::new();
    let text: String = (0..ITEMS).map(line).collect();
    bed.buckets.put("bucket", "Large/a", text.as_bytes()).unwrap();
    let large = bed.import("Large", "NONE");
    let delete = json!({"TableName": "Large"});
    let head = RequestHead::operation("DeleteTable");
    let refused = bed.face.call(&head, delete.to_string().as_bytes());
    assert!(
        String::from_utf8_lossy(&refused.body).contains("ResourceInUse"),
        "it goes on by itself"
    );
    let Bed { store, clock, buckets, .. } = bed;
    let environment = Environment {
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        random: Arc::new(SeededRandom::new(1)),
    };
    let engine = Engine::open(Arc::clone(&store) as _, environment.clone()).unwrap();
    let face = Face::new(engine.clone(), environment, FaceOptions::default());
    let bed = Bed { store, clock, buckets, engine, face };
    let waiting = bed.face.waiting_for_buckets().unwrap().unwrap();
    assert!(waiting.contains("0 exports and 1 imports wait"), "{waiting}");
    bed.call("DeleteTable", &delete);
    let ended = bed.imported(&large);
    assert_eq!(ended["ImportStatus"], "FAILED", "{ended}");
    assert_eq!(bed.call("ListTables", &json!({}))["TableNames"], json!([]));
    bed.call("CreateTable", &of_table("Large"));
    assert_eq!(bed.face.waiting_for_buckets().unwrap(), None);
}

/// Imports one object, which becomes so many items and errors.
fn check_object(table: &str, packing: &str, format: &str, object: &[u8], expected: (u64, u64)) {
    let bed = Bed::new();
    bed.buckets.put("bucket", &format!("{table}/a"), object).unwrap();
    let arn = bed.import_as(table, packing, format);
    let ended = bed.until(|| {
        Some(bed.imported(&arn)).filter(|import| import["ImportStatus"] != "IN_PROGRESS")
    });
    let count = |name: &str| ended[name].as_u64().unwrap();
    assert_eq!((count("ImportedItemCount"), count("ErrorCount")), expected, "{table}: {ended}");
    assert_eq!(ended["ImportStatus"], if expected.1 == 0 { "COMPLETED" } else { "FAILED" });
    let scanned = bed.call("Scan", &json!({"TableName": table, "Select": "COUNT"}));
    assert_eq!(scanned["Count"], json!(expected.0), "{table}");
}

#[test]
fn objects_are_read_as_the_programs_write_them() {
    // A quotation mark inside of a value is a letter.
    let nails = b"p,x\nk1,5\" nail\nk2,b\nk3,c\nk4,6\" nail\nk5,e\n";
    check_object("Nails", "NONE", "CSV", nails, (5, 0));
    // So begins what some programs write.
    check_object("Marked", "NONE", "CSV", b"\xef\xbb\xbfp,x\nk1,a\n", (1, 0));
    check_object(
        "Json",
        "NONE",
        "DYNAMODB_JSON",
        b"\xef\xbb\xbf{\"Item\":{\"p\":{\"S\":\"a\"}}}\n",
        (1, 0),
    );
    check_object("Version", "NONE", "ION", b"$ion_1_0\n{Item:{p:\"a\"}}\n", (1, 0));
    // Programs that write whole blocks pad them.
    let padded = [gzip(line(1).as_bytes()), gzip(b""), gzip(line(2).as_bytes()), vec![0; 512]];
    check_object("Padded", "GZIP", "DYNAMODB_JSON", &padded.concat(), (2, 0));
    // Markers of folders have no bytes.
    for packing in ["NONE", "GZIP", "ZSTD"] {
        check_object("Empty", packing, "DYNAMODB_JSON", b"", (0, 0));
    }
}

/// A slice ends where no item comes out, too.
#[test]
fn a_record_without_an_end_and_blank_lines_are_read_in_slices() {
    let endless = [vec![b'x'; 20 << 20], b"\n".to_vec(), line(1).into_bytes()].concat();
    let blank = [vec![b'\n'; 4 << 20], line(1).into_bytes()].concat();
    for (object, errors) in [(endless, 1), (blank, 0)] {
        let bed = Bed::new();
        bed.buckets.put("bucket", "Odd/a", &object).unwrap();
        let arn = bed.import("Odd", "NONE");
        assert_eq!(bed.imported(&arn)["ImportStatus"], "IN_PROGRESS", "the call ends before it");
        let bed = bed.reopened();
        let ended = bed.until(|| {
            Some(bed.imported(&arn)).filter(|import| import["ImportStatus"] != "IN_PROGRESS")
        });
        let counts = [&ended["ImportedItemCount"], &ended["ErrorCount"]];
        assert_eq!(counts, [&json!(1), &json!(errors)], "{ended}");
        assert_eq!(ended["ProcessedSizeBytes"], json!(object.len()), "{ended}");
    }
}

/// Imports two objects, does something to the first when a part of it was read, and restarts. The import fails, and
/// nothing of its table is left.
fn check_half_read(disturb: impl FnOnce(&MemoryBuckets)) {
    let bed = Bed::new();
    let text: String = (0..ITEMS).map(line).collect();
    bed.buckets.put("bucket", "Large/b", text.as_bytes()).unwrap();
    bed.buckets.put("bucket", "Large/c", line(ITEMS).as_bytes()).unwrap();
    let large = bed.import("Large", "NONE");
    assert_eq!(bed.imported(&large)["ImportStatus"], "IN_PROGRESS");
    // What comes in front of it is none of this import.
    bed.buckets.put("bucket", "Large/a", line(ITEMS + 1).as_bytes()).unwrap();
    disturb(&bed.buckets.inner);
    let bed = bed.reopened();
    let ended = bed.until(|| {
        Some(bed.imported(&large)).filter(|import| import["ImportStatus"] != "IN_PROGRESS")
    });
    assert_eq!(ended["ImportStatus"], "FAILED", "{ended}");
    assert_eq!(ended["FailureCode"], "InvalidObject", "{ended}");
    let tables = bed.call("ListTables", &json!({}));
    assert_eq!(tables["TableNames"], json!([]), "of its table nothing is left");
}

/// What is gone of an import is told, however much of it was read.
#[test]
fn an_object_that_goes_away_while_it_is_read_fails_its_import() {
    check_half_read(|buckets| buckets.remove("Large/b"));
}

/// Of an object that is another one now, half would be of the one and half of the other.
#[test]
fn an_object_that_is_written_anew_while_it_is_read_fails_its_import() {
    check_half_read(|buckets| {
        let text: String = (1..=ITEMS).map(line).collect();
        buckets.put("bucket", "Large/b", text.as_bytes()).unwrap();
    });
}

/// Of several items of one key the last one stays, whatever room they take.
#[test]
fn a_smaller_item_takes_the_place_of_a_larger_one_of_the_same_import() {
    let sizes: [&[usize]; 4] =
        [&[300_000, 10], &[10, 300_000], &[300_000, 150_000], &[100_000, 300_000, 5, 200_000]];
    for sizes in sizes {
        let item = |size: &usize| json!({"Item": {"p": {"S": "k"}, "v": {"S": "x".repeat(*size)}}});
        let text: String = sizes.iter().map(|size| format!("{}\n", item(size))).collect();
        let bed = Bed::new();
        bed.buckets.put("bucket", "Twice/a", text.as_bytes()).unwrap();
        let arn = bed.import("Twice", "NONE");
        let ended = bed.until(|| {
            Some(bed.imported(&arn)).filter(|import| import["ImportStatus"] != "IN_PROGRESS")
        });
        assert_eq!(ended["ImportStatus"], "COMPLETED", "{ended}");
        let scanned = bed.call("Scan", &json!({"TableName": "Twice"}));
        let text = scanned["Items"][0]["v"]["S"].as_str().unwrap();
        assert_eq!(Some(&text.len()), sizes.last(), "{sizes:?}");
        let findings = bed.engine.verify().unwrap().findings;
        assert!(findings.is_empty(), "{sizes:?}: {findings:?}");
    }
}

/// Makes a table of which the first copy is not made by the request that asks for it.
fn with_large_table(bed: &Bed) -> u64 {
    bed.call("CreateTable", &of_table("Music"));
    let text = "x".repeat(200_000);
    for number in 0..80 {
        let item = json!({"p": {"S": format!("{number}")}, "v": {"S": text}});
        bed.call("PutItem", &json!({"TableName": "Music", "Item": item}));
    }
    let on = json!({"PointInTimeRecoveryEnabled": true});
    let request = json!({"TableName": "Music", "PointInTimeRecoverySpecification": on});
    let answer = bed.call("UpdateContinuousBackups", &request);
    let description = &answer["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"];
    assert_eq!(description.get("EarliestRestorableDateTime"), None, "the first copy is made later");
    80
}

#[test]
fn the_latest_moment_is_there_from_the_start() {
    let bed = Bed::new();
    let items = with_large_table(&bed);
    let export = json!({
        "TableArn": "arn:aws:dynamodb:local:000000000000:table/Music", "S3Bucket": "bucket"
    });
    let answer = bed.call("ExportTableToPointInTime", &export);
    let arn = answer["ExportDescription"]["ExportArn"].clone();
    let restore = json!({
        "SourceTableName": "Music", "TargetTableName": "Restored", "UseLatestRestorableTime": true
    });
    bed.call("RestoreTableToPointInTime", &restore);
    let ended = bed.until(|| {
        let described = bed.call("DescribeExport", &json!({"ExportArn": arn}));
        let export = described["ExportDescription"].clone();
        let restored = bed.call("DescribeTable", &json!({"TableName": "Restored"}));
        let is_there = restored["Table"]["TableStatus"] == "ACTIVE";
        Some(export).filter(|export| is_there && export["ExportStatus"] != "IN_PROGRESS")
    });
    assert_eq!(ended["ExportStatus"], "COMPLETED", "{ended}");
    assert_eq!(ended["ItemCount"], json!(items));
    let restored = bed.call("DescribeTable", &json!({"TableName": "Restored"}));
    assert_eq!(restored["Table"]["ItemCount"], json!(items));
}

#[test]
fn whoever_waits_for_a_first_copy_ends_with_it() {
    let bed = Bed::new();
    with_large_table(&bed);
    let export = json!({
        "TableArn": "arn:aws:dynamodb:local:000000000000:table/Music", "S3Bucket": "bucket"
    });
    let answer = bed.call("ExportTableToPointInTime", &export);
    let arn = answer["ExportDescription"]["ExportArn"].clone();
    bed.call("DeleteTable", &json!({"TableName": "Music"}));
    let ended = bed.until(|| {
        let described = bed.call("DescribeExport", &json!({"ExportArn": arn}));
        let export = described["ExportDescription"].clone();
        Some(export).filter(|export| export["ExportStatus"] != "IN_PROGRESS")
    });
    assert_eq!(ended["ExportStatus"], "FAILED", "{ended}");
    assert_eq!(ended["FailureCode"], "PointInTimeRecoveryUnavailable");
}

/// Who looks at an export that has ended meanwhile, here or on another server, leaves its files alone.
#[test]
fn an_export_that_has_ended_is_not_written_again() {
    let bed = Bed::new();
    bed.call("CreateTable", &of_table("Music"));
    let item = json!({"p": {"S": "a"}});
    bed.call("PutItem", &json!({"TableName": "Music", "Item": item}));
    let on = json!({"PointInTimeRecoveryEnabled": true});
    let request = json!({"TableName": "Music", "PointInTimeRecoverySpecification": on});
    bed.call("UpdateContinuousBackups", &request);
    let export = json!({
        "TableArn": "arn:aws:dynamodb:local:000000000000:table/Music", "S3Bucket": "bucket"
    });
    let answer = bed.call("ExportTableToPointInTime", &export);
    let arn = answer["ExportDescription"]["ExportArn"].as_str().unwrap();
    let described = || bed.call("DescribeExport", &json!({"ExportArn": arn}));
    bed.until(|| {
        Some(()).filter(|()| described()["ExportDescription"]["ExportStatus"] == "COMPLETED")
    });
    let (before, ended) = (bed.buckets.inner.objects(), described());
    assert!(before.keys().any(|key| key.ends_with("manifest-files.json")));
    // The note that it is in progress, as somebody read it before the end.
    let id = arn.rsplit('/').next().unwrap();
    let note = || bed.engine.ledger_entry("exporting", id).unwrap();
    bed.engine.put_ledger_entry(shelfmark_engine::LedgerEntry::new("exporting", id)).unwrap();
    bed.until(|| Some(()).filter(|()| note().is_none()));
    assert_eq!((bed.buckets.inner.objects(), described()), (before, ended));
}
