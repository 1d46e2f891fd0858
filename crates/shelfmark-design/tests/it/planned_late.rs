//! What plans leave out and what they keep: each model stands beside its nearest neighbour.

use shelfmark_design::{Document, Status};

fn document(text: &str) -> Document {
    Document::parse("late", text).unwrap_or_else(|report| panic!("{report}"))
}

fn planned(text: &str, target: &str) -> String {
    let plan = document(text).plan(target, "planned").unwrap_or_else(|why| panic!("{why}"));
    plan.schema
}

/// Returns the patterns of a planned schema that hold.
fn held(text: &str, target: &str) -> Vec<String> {
    let whole = document(text).with_only(&planned(text, target));
    let proofs = document(&whole).prove();
    let good = proofs.iter().filter(|one| matches!(one.status, Status::Certified | Status::Multi));
    good.map(|one| one.pattern.clone()).collect()
}

const POSTS: &str = "type name = text(min 1, max 30, only \"a-z\")
entity User { key name: name }
entity Post { key id: ulid  author: name immutable  body: text(max 200) immutable }
link Like from Post as post to User as user { at: timestamp immutable }
entity Notice { user: User  id: ulid  seen: bool  key (user, id) }
read wall(u, n) = Post where author = u order by id desc limit n
read likes(p) = count of Like where post = p
read unseen(u) = count of Notice where user = u and seen = false
write join(u) = insert User(name u)
write post(p, u, b) = insert Post(id p, author u, body b)
write like(p, u, at) = link Like(post p, user u) set at = at
write unlike(p, u) = unlink Like(post p, user u)
write notify(u, i) = insert Notice(user u, id i, seen false)
";

/// A number is kept by a row that nobody else asks for; one that some write cannot keep up takes no
/// other with it, and the note says which write and what would tell.
#[test]
fn each_number_is_kept_by_itself() {
    for target in ["dynamodb", "shelfmark"] {
        let told = format!(
            "{POSTS}write see(u, i) = update Notice(user u, id i) set seen = true if seen = false\n"
        );
        let schema = planned(&told, target);
        assert!(schema.contains("count Like") && schema.contains("as unseen"), "{schema}");
        assert!(!schema.contains("has no plan") && !schema.contains("is unservable"), "{schema}");
        assert!(held(&told, target).len() == 9, "{schema}");

        let open = told.replace(" if seen = false", "");
        let schema = planned(&open, target);
        assert!(schema.contains("count Like") && !schema.contains("as unseen"), "{schema}");
        assert!(
            schema.contains("# unseen is unservable: with a row that keeps it, see"),
            "{schema}"
        );
        assert!(schema.contains("if state = "), "{schema}");
    }
}

/// A read that no key serves as the caller knows it has no rows of its own, whoever it is planned for;
/// once the input is declared it has.
#[test]
fn what_serves_nobody_is_not_kept() {
    let of = |input: &str| {
        format!(
            "entity Shop {{ key id: int(1..999)  geo: text(min 9, max 9, only \"0-9a-z\") immutable }}
read shop(s) = Shop where id = s unique
read near({input}) = Shop where geo begins g limit 50
write open(s, g) = insert Shop(id s, geo g)
"
        )
    };
    for target in ["dynamodb", "cql"] {
        let open = planned(&of("g"), target);
        assert!(open.contains("# near has no plan") && open.contains("`g: text(min 1)`"), "{open}");
        assert!(!open.contains("shop_by_geo"), "{open}");
        let declared = planned(&of("g: text(min 1)"), target);
        assert!(declared.contains("shop_by_geo") && !declared.contains('#'), "{declared}");
    }
}

/// Of 5,000 entries a second four of five go to one code, unless none has many.
#[test]
fn the_largest_fan_out_tells_where_it_is_hot() {
    let of = |most: &str| {
        format!(
            "entity Log {{
  key id: ulid  code: int(100..599) immutable  at: timestamp immutable  count 1G
  fanout code avg 2M max {most}
}}
read failed(c, n) = Log where code = c order by at desc limit n
write record(i, c, at) = insert Log(id i, code c, at at) rate 5k/s
"
        )
    };
    let hot = planned(&of("800M"), "dynamodb");
    assert!(hot.contains("bucket(hash(id), "), "{hot}");
    let even = planned(&of("20M"), "dynamodb");
    assert!(!even.contains("bucket("), "{even}");
}

/// An index by a number that is added to has it as a number, however many row types could share one of
/// texts.
#[test]
fn what_is_added_to_is_no_part_of_a_text() {
    let of = |change: &str| {
        format!(
            "entity Level {{ key id: uuid  kind: text(min 1, max 9, only \"a-z\") }}
entity Day {{ level: Level  day: date  riders: int(0..9999)  key (level, day) }}
read level(l) = Level where id = l unique rate 100/s
read of_kind(k) = Level where kind = k
read days(l) = Day where level = l order by day
read busiest(d, n) = Day select level, riders where day = d order by riders desc limit n
write build(l, k) = insert Level(id l, kind k)
write rename(l, k) = update Level(id l) set kind = k
write begin(l, d) = insert Day(level l, day d, riders 0)
write ride(l, d, n) = {change}
"
        )
    };
    let added = of("increment Day(level l, day d) set riders by 1");
    let schema = planned(&added.replace("ride(l, d, n)", "ride(l, d)"), "dynamodb");
    assert!(!schema.contains("has no plan"), "{schema}");
    assert!(schema.contains("key (day; riders)"), "{schema}");
    let set = planned(&of("update Day(level l, day d) set riders = n"), "dynamodb");
    assert!(set.contains("<riders:pad(4)>"), "{set}");
}

/// A put that replaces its row, or is refused where one is, looks at nothing before; one whose rows lie
/// under what was does.
#[test]
fn a_put_looks_only_for_what_it_does_not_know() {
    let of = |existing: &str, other: &str| {
        format!(
            "entity Mark {{ user: uuid  room: uuid  last: timestamp  key (user, room) }}
read marks(u) = Mark where user = u
{other}write mark(u, r, l) = insert Mark(user u, room r, last l) {existing}
"
        )
    };
    for target in ["dynamodb", "cql", "shelfmark"] {
        for existing in ["or replace", "unless exists"] {
            let schema = planned(&of(existing, ""), target);
            assert!(schema.contains("write mark { put mark }"), "{schema}");
        }
    }
    let by_time = "read newest(u) = Mark where user = u order by last desc\n";
    let schema = planned(&of("or replace", by_time), "candb");
    assert!(schema.contains("read mark where user = u and room = r"), "{schema}");
    // A view of CQL follows by itself.
    let schema = planned(&of("or replace", by_time), "cql");
    assert!(schema.contains("write mark { put mark }"), "{schema}");
}

/// A table that has the whole key beside a constant finds its rows: no second one by the key alone.
#[test]
fn one_table_finds_and_lists() {
    let text = "entity Service { key name: text(min 1, max 40)  about: text(max 100) }
read services() = Service limit 1000
read service(n) = Service where name = n unique
write start(n, a) = insert Service(name n, about a) unless exists
";
    let schema =
        planned(&text.replace("read service(n) = Service where name = n unique\n", ""), "cql");
    assert_eq!(schema.matches("  table ").count(), 1, "{schema}");
    assert_eq!(held(text, "cql").len(), 3);
}

/// Scores that are read five hundred times a second have a table of their own, whose keys are short; read
/// seldom they lie with the others, and beside a schema of one table as well.
#[test]
fn row_types_part_where_it_pays() {
    let text = |path: &str| {
        let path = crate::root().join("../../models").join(path);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
    };
    let often = text("reference/leaderboard.shelf");
    let seldom = often.replace("rate 500/s", "rate 1/s");
    assert_ne!(often, seldom);
    let schema = planned(&often, "dynamodb");
    assert!(schema.contains("  table score "), "{schema}");
    let schema = planned(&seldom, "dynamodb");
    assert_eq!(schema.matches("  table ").count(), 1, "{schema}");
    let beside = document(&often).plan_beside("corrected", "planned").expect("both");
    assert!(beside.ratio() <= 1.1, "{beside}");

    let shop = text("designs/onlineshop.shelf");
    let schema = planned(&shop, "dynamodb");
    assert_eq!(schema.matches("  table ").count(), 2, "{schema}");
    let beside = document(&shop).plan_beside("published", "planned").expect("both");
    assert_eq!(beside.planned.tables, 1, "{beside}");
}

/// What is inserted unless it exists, beside other parts, is looked for before them; a unique value of it is
/// taken first, since who is there already has it.
#[test]
fn what_may_be_there_beside_other_parts_is_looked_for() {
    let text = "entity U { key id: uuid  mail: text(min 1, max 30)  unique (mail) }
entity P { key id: uuid  by: U  at: timestamp immutable }
read posts(u) = P where by = u order by at desc
read user(m) = U where mail = m unique
write post(p, u, m, at) = insert U(id u, mail m) unless exists and insert P(id p, by u, at at)
";
    for target in ["dynamodb", "cql", "candb", "shelfmark", "ordered"] {
        let schema = planned(text, target);
        assert!(!schema.contains("has no plan"), "{schema}");
        assert!(schema.contains(" read u"), "{schema}");
        assert_eq!(held(text, target).len(), 3, "{schema}");
    }
    let schema = planned(text, "cql");
    let at = |words: &str| schema.find(words).unwrap_or_else(|| panic!("{words}: {schema}"));
    assert!(at("read u where id = u") < at("put u_by_mail") && at("put u_by_mail") < at("put u ;"));
}

/// Parts of a write that may be about one item are requests of their own, since a transaction takes an item
/// once.
#[test]
fn parts_about_one_item_are_requests_of_their_own() {
    let text = "entity A { key id: uuid  n: int }
read a(i) = A where id = i unique
write both(i, j) = update A(id i) set n = 1 and insert A(id j, n 2) unless exists
";
    let schema = planned(text, "dynamodb");
    assert!(!schema.contains("has no plan") && !schema.contains("transaction"), "{schema}");
    assert_eq!(held(text, "dynamodb").len(), 2, "{schema}");
}

/// What is keyed by nothing but what it refers to comes twice: a plan keeps a row under its key. That an id of
/// its own is new is said above the schema and in the certificate.
#[test]
fn what_others_name_is_met_and_an_id_is_taken_for_new() {
    let text = "entity User { key id: uuid }
entity Post { key id: uuid  by: User immutable  at: timestamp immutable }
link Like from Post as post to User as user { at: timestamp immutable }
read posts(u) = Post where by = u order by at desc
read likes(p) = Like where post = p order by at desc
write post(p, u, at) = insert Post(id p, by u, at at)
write like(p, u, at) = link Like(post p, user u) set at = at
";
    for target in ["dynamodb", "cql", "candb", "shelfmark", "ordered"] {
        let schema = planned(text, target);
        let said = "# post: that no Post has the id yet is the caller's word";
        assert!(schema.starts_with(said), "{schema}");
        assert_eq!(schema.matches("caller's word").count(), 1, "{schema}");
        let proofs = document(&document(text).with_only(&schema)).prove();
        let assumes = |name: &str| {
            let proof = proofs.iter().find(|one| one.pattern == name).expect("a proof");
            assert_eq!(proof.status, Status::Certified, "{}", proof.text());
            proof.text().contains("assumed: no Post has the id yet, under which no row lies")
        };
        assert!(assumes("post") && !assumes("like"), "{schema}");
        // A read of one post has its row, which the second writer of the id meets.
        let read = format!("{text}read one(p) = Post where id = p unique\n");
        assert!(!planned(&read, target).contains("caller's word"), "{schema}");
    }
}

/// A loop that selects by more than the key has a plan in the schema of items and indexes: what it compares
/// stands in the index that it goes through.
#[test]
fn a_loop_that_compares_has_the_plan_of_an_index() {
    let text = r#"
entity Folder { key id: text(min 1, max 20)  name: text(max 40) }
entity Mail {
  key id: text(min 1, max 20)
  folder: Folder
  unread: bool
  size: int(0..100000)
  at: timestamp
}
read folder(f) = Folder where id = f unique
read mail(m) = Mail where id = m unique
read list_(f) = Mail where folder = f order by at desc limit 10
write receive(m, f, s, at) = insert Mail(id m, folder f, unread true, size s, at at)
write move(m, f) = update Mail(id m) set folder = f
write flip(m, b) = update Mail(id m) set unread = b
write all_seen(f) = update Mail(id m.id, unread true) set unread = false for each Mail as m where folder = f
"#;
    let schema = planned(text, "dynamodb");
    assert!(!schema.contains("has no plan"), "{schema}");
    assert_eq!(schema.matches("\n  table ").count(), 1, "{schema}");
    assert_eq!(schema.matches(" index ").count(), 1, "{schema}");
}

/// A number over an optional reference is kept by the row that is referred to: what refers to nothing is
/// counted nowhere.
#[test]
fn a_number_over_an_optional_reference_is_kept() {
    let text = r#"
entity Team { key id: text(min 1, max 20)  name: text(max 40) }
entity Task { key id: text(min 1, max 20)  team: Team optional  points: int(0..1000) }
read team(t) = Team where id = t unique
read pts(t) = sum points of Task where team = t
read tasks(t) = count of Task where team = t
read task(i) = Task where id = i unique
write make(i, t, p) = insert Task(id i, team t, points p)
write drop(i) = delete Task(id i)
write found(t, n) = insert Team(id t, name n)
"#;
    for target in ["dynamodb", "cql", "candb", "shelfmark", "ordered"] {
        assert_eq!(held(text, target).len(), 7, "{}", planned(text, target));
    }
}

/// A partition that is only large stays whole where its rows are asked for page by page; where it takes too
/// many writes it is spread, and the note says so.
#[test]
fn what_is_read_by_pages_is_spread_for_writes_alone() {
    let text = |rate: &str, page: &str| {
        format!(
            "entity Event {{
  key id: uuid  day: date immutable  at: timestamp immutable  body: text(max 1000) avg 600 immutable
  count 500M  fanout day avg 1M
}}
read feed(d, f) = Event where day = d and at >= f order by at {page}
write append(i, d, at, b) = insert Event(id i, day d, at at, body b) rate {rate}
"
        )
    };
    let schema = planned(&text("200/s", "page 100"), "cql");
    assert!(!schema.contains("bucket(") && !schema.contains("has no plan"), "{schema}");
    let schema = planned(&text("200/s", "limit 100"), "cql");
    assert!(schema.contains("bucket("), "{schema}");
    let schema = planned(&text("40k/s", "page 100"), "cql");
    assert!(schema.contains("# feed has no plan: its rows are spread over "), "{schema}");
}

/// An attribute of which nothing is declared has as many rows as is usual, also beside one of which the
/// values are known: two states are no reason to read half of all rows.
#[test]
fn what_is_known_of_one_attribute_bounds_what_shares_two() {
    let text = r#"
entity Stock {
  sku: text(min 1, max 20)  site: text(min 1, max 20)  n: int(0..1000000)  state: enum("on", "off")
  key (sku, site)  count 1M
}
read stock(s, t) = Stock where sku = s and site = t unique
read low(t) = Stock where site = t and n < 10 order by n
read on_(t) = Stock where site = t and state = "on" order by sku
write add(s, t) = insert Stock(sku s, site t, n 0, state "on")
write off(s, t) = update Stock(sku s, site t) set state = "off" if n = 0
schema published target shelfmark {
  table stock from Stock key (sku, site;) store all
    index stock_by_site_n key (site; n)
    index stock_by_site_state_sku key (site, state; sku)
}
"#;
    let beside = document(text).plan_beside("published", "planned").expect("a plan");
    assert!(beside.ratio() <= 1.0, "{}: {}", beside.ratio(), beside.schema);
    assert_eq!((beside.planned.tables, beside.planned.indexes), (1, 2), "{}", beside.schema);
    let rows = &beside.planned.assumed_rows;
    assert!(rows.iter().all(|(_, rows)| *rows <= 10.0), "{rows:?}");
}
