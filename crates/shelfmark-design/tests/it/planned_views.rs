//! Materialized views of CQL beside second tables: each where it costs less, or serves more.

use shelfmark_design::{Document, Status};

fn document(text: &str) -> Document {
    Document::parse("views", text).unwrap_or_else(|report| panic!("{report}"))
}

/// Returns the schema planned for CQL, of which all patterns are certified.
fn planned(text: &str) -> String {
    let schema = document(text).plan("cql", "planned").unwrap_or_else(|why| panic!("{why}")).schema;
    for proof in document(&document(text).with_only(&schema)).prove() {
        let good = matches!(proof.status, Status::Certified | Status::Multi);
        assert!(good, "{}: {schema}", proof.pattern);
    }
    schema
}

/// Tracks of which each may come again, with another place; and buildings, whose height is in no view's key
/// beside the town.
const TRACKS: &str = "entity Track {
  who: text(min 1, max 40)  at: timestamp  place: text(min 1, max 60)  speed: decimal
  key (who, at)  count 1G  fanout who avg 10k max 100k
}
entity Building {
  key name: text(min 1, max 80)  city: text(min 1, max 40)  height: int(0..1000)
  count 100k  fanout city avg 50 max 5k
}
read track(w, a) = Track where who = w and at >= a order by at rate 5/s
read there(p) = Track where place = p order by at desc limit 50 rate 5/s
read tallest(c) = Building where city = c order by height desc limit 3 rate 5/s
read in_city(c) = Building where city = c order by name rate 5/s
write see(w, at, p, s) = insert Track(who w, at at, place p, speed s) or replace rate 2k/s
write build(n, c, h) = insert Building(name n, city c, height h) rate 1/s
";

const VIEWED: &str = "schema published target cql {
  table tracks from Track key (who; at) store all
    index there key (place; at desc, who) store all
  table buildings from Building key (name;) store all
    index by_city key (city; name) store all
  table by_height from Building key (city; height desc, name) store all
}
";

/// A row that is replaced leaves a second row behind, which is looked for and deleted; a view's goes by
/// itself.
#[test]
fn what_is_replaced_is_followed_by_a_view() {
    let schema = planned(TRACKS);
    assert!(schema.contains("index track_by_place_at key (place; at desc, who)"), "{schema}");
    assert!(schema.contains("write see { put track }"), "{schema}");
    // Buildings only come: a second table costs no more, and promises more.
    assert!(!schema.contains("index building"), "{schema}");
    assert!(schema.contains("table building_by_city_height"), "{schema}");

    let whole = document(&format!("{TRACKS}{VIEWED}"));
    let beside = whole.plan_beside("published", "planned").expect("a plan");
    assert!(beside.ratio() <= 1.0, "{}: {}", beside.ratio(), beside.schema);
    assert!(beside.planned.tables <= beside.written.tables, "{}", beside.schema);
    assert!(beside.planned.indexes <= beside.written.indexes, "{}", beside.schema);
    assert_eq!(beside.dearer_writes(), Vec::<&str>::new(), "{}", beside.schema);
}

/// A condition holds of one partition, so that no second table follows it; a view does.
#[test]
fn what_a_condition_guards_is_followed_by_a_view() {
    let text = "entity Slot {
  room: text(min 1, max 20)  day: date  hour: int(0..23)
  state: enum(\"free\", \"taken\")  by: text(min 1, max 20) optional
  key (room, day, hour)  fanout room, day max 24
}
read of_day(r, d) = Slot where room = r and day = d order by hour
read mine(u) = Slot where by = u order by day, hour
write make(r, d, h) = insert Slot(room r, day d, hour h, state \"free\")
write book(r, d, h, u) = update Slot(room r, day d, hour h) set by = u, state = \"taken\" if state = \"free\"
write unbook(r, d, h, u) = update Slot(room r, day d, hour h) set by = absent if by = u
write clear(r, d) = update Slot(room r, day d, hour s.hour) set by = absent for each Slot as s where room = r and day = d
";
    let schema = planned(text);
    assert!(schema.contains("index slot_by_by_day_hour key (by; day, hour, room)"), "{schema}");
    assert!(schema.contains("write unbook { patch slot }"), "{schema}");
}

/// A view has no column that spreads its partitions, nor has one of a table that is spread: where a place
/// takes more writes than one partition does, it stays a table.
#[test]
fn what_is_spread_is_no_view() {
    let hot = TRACKS.replace("rate 2k/s", "rate 40k/s").replace(
        "fanout who avg 10k max 100k",
        "fanout who avg 10k max 100k fanout place avg 100M max 1G",
    );
    let schema = planned(&hot);
    assert!(!schema.contains("index track"), "{schema}");
    assert!(schema.contains("bucket(hash("), "{schema}");
}
