//! Random histories with a change stream: writers at once, shards that split and follow each other
//! meanwhile, and a reader that follows.
//!
//! What the reader saw while it was written is what is there at the end, shard by shard; the records,
//! applied to nothing with parents before children, lead to the items of the table, each change to
//! the one before it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use shelfmark_engine::{
    Change, Engine, ErrorKind, ItemChange, Scan, StreamRange, StreamShardState, Write,
};
use shelfmark_keycode::token;
use shelfmark_model::{
    ChangeImages, Item, Key, Operand, Patch, PatchOperation, PatchValue, Path, TableName, Value,
};
use shelfmark_store::random::SplitMix;
use shelfmark_testkit::seeds;

use crate::drivers::{Bed, on_every_driver, patiently, plain};

const WRITERS: u64 = 3;
const STEPS: u64 = 60;
const PLACES: u64 = 7;

fn name() -> TableName {
    TableName::new("test", "t")
}

fn key(place: u64) -> Key {
    Key::pair(format!("p{}", place / 2), format!("s{}", place % 2))
}

fn item(place: u64, n: u64) -> Item {
    let key = key(place);
    let [partition, sort] = [key.partition, key.sort].map(|values| values[0].clone());
    let small = Item::new().with("pk", partition).with("sk", sort).with("n", number(n));
    // Some are cut into chunks, and their changes into parts.
    if n.is_multiple_of(17) {
        small.with("blob", Value::Bytes(vec![7; 200_000].into()))
    } else {
        small
    }
}

fn number(n: u64) -> Value {
    Value::Int(n.cast_signed())
}

/// Returns one write of a random kind; few values, so that many writes change nothing.
fn write(engine: &Engine, draw: &mut SplitMix) -> Write {
    let table = engine.table(&name()).unwrap();
    let (place, n) = (draw.below(PLACES), draw.below(40));
    match draw.below(4) {
        0 => Write::delete(&table, key(place)),
        1 => {
            let set = PatchOperation::Set(
                Path::attribute("n"),
                PatchValue::Operand(Operand::Value(number(n % 3))),
            );
            let patch = Patch { operations: vec![set] };
            Write::new(
                &table,
                Change::Patch { key: key(place), patch, creates: draw.below(2) == 0 },
            )
        }
        _ => Write::put(&table, item(place, n)),
    }
}

fn writer(engine: &Engine, seed: u64) {
    let mut draw = SplitMix::new(seed);
    for _ in 0..STEPS {
        let count = 1 + draw.below(3);
        let writes: Vec<Write> = (0..count).map(|_| write(engine, &mut draw)).collect();
        loop {
            match patiently(|| engine.write_all(writes.clone())) {
                Ok(_) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
            }
        }
    }
}

/// Follows and splits shards until the writers are done.
fn splitter(engine: &Engine, seed: u64, is_done: &AtomicBool) {
    let mut draw = SplitMix::new(seed);
    for _ in 0..6 {
        if is_done.load(Ordering::SeqCst) {
            return;
        }
        let table = engine.table(&name()).unwrap();
        let open = &table.schema.options.stream.as_ref().unwrap().shards;
        let count = u64::try_from(open.len()).unwrap();
        let at = usize::try_from(draw.below(count)).unwrap();
        let (number, splits) = (open[at].number, draw.below(2) == 0);
        patiently(|| engine.follow_shard(&name(), number, splits)).unwrap();
        std::thread::yield_now();
    }
}

/// A reader of all shards that goes on where it stopped.
#[derive(Default)]
struct Follower {
    places: BTreeMap<u64, Option<StreamRange>>,
    seen: BTreeMap<u64, Vec<ItemChange>>,
}

impl Follower {
    fn look(&mut self, engine: &Engine) -> usize {
        let mut read = 0;
        for shard in shards(engine) {
            let number = shard.shard.number;
            let place = self.places.entry(number).or_insert(Some(StreamRange::Oldest));
            let Some(range) = *place else { continue };
            let page = engine.read_stream(&shard, range, 3, 1 << 20).unwrap();
            read += page.changes.len() + usize::from(page.next != Some(range));
            self.seen.entry(number).or_default().extend(page.changes);
            *place = page.next;
        }
        read
    }
}

fn shards(engine: &Engine) -> Vec<StreamShardState> {
    engine.stream_shards(&name(), "s", 0, 1_000).unwrap()
}

/// Checks that a shard holds the partitions of its tokens alone.
fn check_tokens(engine: &Engine, seen: &BTreeMap<u64, Vec<ItemChange>>) {
    let all = shards(engine);
    for shard in &all {
        // The next shard that the same commit opened, if the parent was split.
        let parent = shard.shard.parent;
        let is_next = |own: &&StreamShardState| {
            own.shard.parent == parent && own.shard.first_token > shard.shard.first_token
        };
        let next = all.iter().find(is_next).map_or(u64::MAX, |own| own.shard.first_token);
        for change in seen.get(&shard.shard.number).into_iter().flatten() {
            let image = change.new.as_ref().or(change.old.as_ref()).unwrap();
            let partition = image.get("pk").unwrap().as_text().unwrap();
            let token = token(partition.as_bytes()).cast_unsigned() ^ (1 << 63);
            assert!((shard.shard.first_token..next).contains(&token), "{shard:?}: {partition}");
        }
    }
}

/// Applies all changes to nothing, parents before children.
fn applied(engine: &Engine, seen: &BTreeMap<u64, Vec<ItemChange>>) -> BTreeMap<String, Item> {
    let table = engine.table(&name()).unwrap();
    let mut items: BTreeMap<String, Item> = BTreeMap::new();
    // A child has a greater number than its parent.
    for changes in seen.values() {
        assert!(changes.windows(2).all(|pair| pair[0].position < pair[1].position));
        for change in changes {
            let image = change.new.as_ref().or(change.old.as_ref()).unwrap();
            let place = format!(
                "{:?}",
                table.schema.key_names().map(|own| image.get(own)).collect::<Vec<_>>()
            );
            let before = match &change.new {
                Some(new) => items.insert(place, new.clone()),
                None => items.remove(&place),
            };
            assert_eq!(before, change.old, "a change follows from the one before it");
            assert_ne!(change.old, change.new, "nothing that changed nothing");
        }
    }
    items
}

fn history(bed: &Bed, seed: u64) {
    let engine = &bed.engine;
    bed.patient(|engine| engine.create_table_with_stream(plain("t"), "s", ChangeImages::Both));
    let is_done = AtomicBool::new(false);
    let mut follower = Follower::default();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|own| scope.spawn(move || writer(engine, seed * 1_000 + own)))
            .collect();
        let splits = scope.spawn(|| splitter(engine, seed, &is_done));
        while !writers.iter().all(|own| own.is_finished()) {
            follower.look(engine);
        }
        is_done.store(true, Ordering::SeqCst);
        splits.join().unwrap();
        writers.into_iter().for_each(|own| own.join().unwrap());
    });
    bed.settle();
    while follower.look(engine) > 0 {}
    let mut again = Follower::default();
    while again.look(engine) > 0 {}
    assert_eq!(follower.seen, again.seen, "nothing appears behind a reader");
    let table = engine.table(&name()).unwrap();
    let mut scan = Scan::default();
    let mut there: Vec<Item> = Vec::new();
    loop {
        let page = engine.scan(&table, &scan).unwrap();
        there.extend(page.items);
        let Some(next) = page.cursor else { break };
        scan.start = Some(next);
    }
    check_tokens(engine, &again.seen);
    let mut read: Vec<Item> = applied(engine, &again.seen).into_values().collect();
    let order = |item: &Item| format!("{:?} {:?}", item.get("pk"), item.get("sk"));
    read.sort_by_key(order);
    there.sort_by_key(order);
    assert_eq!(read, there);
    let open = shards(engine).iter().filter(|own| own.last.is_none()).count();
    assert_eq!(open, table.schema.options.stream.as_ref().unwrap().shards.len());
    assert_eq!(engine.verify().unwrap().findings, []);
}

#[test]
fn records_lead_to_what_is_there_and_none_comes_late() {
    seeds::each(2, 100, |seed| on_every_driver(|bed| history(bed, seed)));
}
