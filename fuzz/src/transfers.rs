//! Files from nowhere into imports: the command's, and those of the DynamoDB face.
//!
//! Input: a byte that says which form the rest has. What was imported is exported in the same form, and
//! that file must give the same rows again.

use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use shelfmark_dynamo::{BucketObject, Buckets, DynamoDbEndpoint, Face, FaceOptions};
use shelfmark_engine::Engine;
use shelfmark_store::clock::{Clock, SystemClock};
use shelfmark_store::sleep::ThreadSleeper;
use shelfmark_store::vfs;
use shelfmark_transfer::delimited::{Dialect, Field, Reader, Writer};
use shelfmark_transfer::feed::Feeding;
use shelfmark_transfer::input::{Input, Records};
use shelfmark_transfer::items::{
    Definition, ItemExport, ItemForm, ItemImport, Target, export_items, import_items,
    read_workbench, records_of,
};
use shelfmark_transfer::{Control, PositionFile, Rate};

use crate::bed;

/// A table with a key of two parts, as `import --create` takes it.
const KEY: &str = "pk:S,sk:N";

/// Runs one input.
pub fn run(data: &[u8]) {
    let Some((kind, text)) = data.split_first() else { return };
    match kind % 9 {
        0 => imported_and_back(ItemForm::DynamoDbJson, text),
        1 => imported_and_back(ItemForm::JsonLines, text),
        2 => imported_and_back(ItemForm::Csv, text),
        3 => workbench(text),
        4 => delimited(text, Dialect::default()),
        5 => folder(text),
        6 => position(text),
        7 => definition(text),
        _ => by_request(*kind / 9, text),
    }
}

/// A face over an empty store in memory, as an endpoint.
#[derive(Clone)]
struct Side(Arc<Face>);

impl DynamoDbEndpoint for Side {
    fn send(&self, operation: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
        self.0.send(operation, body)
    }
}

fn face() -> Face {
    let clock = bed::clock();
    let environment = bed::environment(&clock);
    let engine = Engine::open(bed::store(&clock), environment.clone());
    Face::new(engine.expect("an empty store opens"), environment, FaceOptions::default())
}

impl Side {
    fn with_table() -> Self {
        let side = Self(Arc::new(face()));
        let body = "{\"TableName\":\"tab\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\
                    \"AttributeType\":\"S\"},{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"}],\
                    \"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},{\"AttributeName\":\
                    \"sk\",\"KeyType\":\"RANGE\"}],\"BillingMode\":\"PAY_PER_REQUEST\"}";
        let made = side.send("CreateTable", body.as_bytes()).expect("it is in this process");
        assert_eq!(made.0, 200, "the table is right");
        side
    }
}

/// Runs a transfer whose time is real, for it may wait.
fn controlled<T>(work: impl FnOnce(&Control<'_>) -> T) -> T {
    let clock = SystemClock::new();
    let stop = AtomicBool::new(false);
    work(&Control {
        clock: &clock as &dyn Clock,
        sleeper: &ThreadSleeper,
        stop: &stop,
        progress: &|_| {},
        rate: Rate::default(),
    })
}

/// Imports a file, passing over what is bad. Returns its rows and their checksum, if it could be read.
fn import(
    side: &Side,
    form: ItemForm,
    path: &Path,
    position: &PositionFile,
) -> Option<shelfmark_transfer::Sums> {
    let connect = || Ok(Box::new(side.clone()) as Box<dyn DynamoDbEndpoint>);
    controlled(|control| {
        let mut input = Input::open(path, records_of(form)?).ok()?;
        let feeding = Feeding { threads: 1, batch_records: 10, skip_bad: u64::MAX };
        let what = ItemImport { connect: &connect, table: "tab".to_owned(), form, feeding };
        Some(import_items(&what, &mut input, position, control).ok()?.sums)
    })
}

fn export(side: &Side, form: ItemForm, path: &Path) -> Option<shelfmark_transfer::Sums> {
    let connect = || Ok(Box::new(side.clone()) as Box<dyn DynamoDbEndpoint>);
    let what = ItemExport {
        connect: &connect,
        table: "tab".to_owned(),
        form,
        target: Target::File(path.to_path_buf()),
        is_packed: false,
        segments: 1,
        random: 7,
    };
    controlled(|control| Some(export_items(&what, control).ok()?.sums))
}

fn imported_and_back(form: ItemForm, text: &[u8]) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let (given, back) = (folder.path().join("given"), folder.path().join("back"));
    vfs::replace(&given, text).expect("a file can be written");
    let side = Side::with_table();
    if import(&side, form, &given, &PositionFile::none()).is_none() {
        return;
    }
    // A form may have no way to write some value; what it writes it reads.
    let Some(written) = export(&side, form, &back) else { return };
    let again = Side::with_table();
    let read = import(&again, form, &back, &PositionFile::none());
    assert_eq!(read, Some(written), "{form:?} reads its own files as something else");
}

fn workbench(text: &[u8]) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("model.json");
    vfs::replace(&path, text).expect("a file can be written");
    let Ok(tables) = read_workbench(&path, None) else { return };
    tables.iter().for_each(|table| drop(table.definition.text()));
}

/// Reads records, writes them, and reads them again.
fn delimited(text: &[u8], dialect: Dialect) {
    let all = |text: &[u8]| -> Option<Vec<Vec<Field>>> {
        let mut reader = Reader::new(text, dialect, 1);
        let mut records = Vec::new();
        while let Some((_, fields)) = reader.record().ok()? {
            records.push(fields);
        }
        Some(records)
    };
    let Some(records) = all(text) else { return };
    let mut writer = Writer::new(Vec::new(), dialect);
    for record in &records {
        record.iter().for_each(|field| writer.field(field));
        writer.end().expect("memory takes everything");
    }
    let texts = |records: &[Vec<Field>]| -> Vec<Vec<String>> {
        let texts = |record: &Vec<Field>| record.iter().map(|own| own.text.clone()).collect();
        records.iter().map(texts).collect()
    };
    let again = all(&writer.into_inner()).expect("what was written is read");
    assert_eq!(texts(&records), texts(&again), "records are read as others than were written");
}

/// A folder of an export: the text has its manifests and one object, with a byte 0 between them.
fn folder(text: &[u8]) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let names = ["manifest-summary.json", "manifest-files.json", "object.json"];
    for (name, part) in names.iter().zip(text.splitn(3, |byte| *byte == 0)) {
        vfs::replace(&folder.path().join(name), part).expect("a file can be written");
    }
    if let Ok(mut input) = Input::open(folder.path(), Records::Lines) {
        while let Ok(Some(_)) = input.record() {}
    }
}

/// The position of an import that did not end, as it is found beside its file.
fn position(text: &[u8]) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("rows");
    let rows = b"{\"pk\":\"a\",\"sk\":1}\n{\"pk\":\"b\",\"sk\":2}\n";
    vfs::replace(&path, rows).expect("a file can be written");
    let noted = PositionFile::beside(&path, "import");
    let own = noted.path().expect("it has a place").to_path_buf();
    vfs::replace(&own, text).expect("a file can be written");
    let _ = import(&Side::with_table(), ItemForm::JsonLines, &path, &noted);
}

fn definition(text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    if let Ok(definition) = Definition::parse(&text, "t") {
        let again = Definition::parse(&definition.text(), "t").expect("what was written is read");
        assert_eq!(definition.text(), again.text(), "a definition is written in two ways");
    }
    assert!(Definition::parse(KEY, "t").is_ok(), "a key is a definition");
}

/// One object in a bucket.
struct OneObject(Vec<u8>);

impl Buckets for OneObject {
    fn has(&self, _: &str) -> bool {
        true
    }

    fn put(&self, _: &str, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, _: &str, _: &str, _: usize) -> io::Result<Vec<BucketObject>> {
        let (key, version) = ("object".to_owned(), String::new());
        Ok(vec![BucketObject { key, bytes: self.0.len() as u64, version }])
    }

    fn open(&self, _: &str, _: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.0.clone())))
    }
}

/// The request ImportTable with an object of any form and packing.
fn by_request(kind: u8, text: &[u8]) {
    let format = ["ION", "CSV", "DYNAMODB_JSON"][usize::from(kind % 3)];
    let packing = ["NONE", "GZIP", "ZSTD"][usize::from(kind / 3 % 3)];
    let face = face().with_buckets(Arc::new(OneObject(text.to_vec())));
    let body = format!(
        "{{\"ClientToken\":\"token\",\"S3BucketSource\":{{\"S3Bucket\":\"bucket\"}},\"InputFormat\":\"{format}\",\
         \"InputCompressionType\":\"{packing}\",\"TableCreationParameters\":{{\"TableName\":\"tables\",\
         \"AttributeDefinitions\":[{{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}}],\"KeySchema\":\
         [{{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}}],\"BillingMode\":\"PAY_PER_REQUEST\"}}}}"
    );
    let (status, answer) =
        face.send("ImportTable", body.as_bytes()).expect("it is in this process");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
    let (status, _) = face.send("ListImports", b"{}").expect("it is in this process");
    assert_eq!(status, 200, "imports can be listed");
}
