//! Types nested deep: what is accepted is stored and read back, what is not is refused and leaves
//! nothing behind.

use shelfmark_cql_types::{TYPE_DEPTH_MAX, parse_class_name};

use crate::statements::World;

/// How a type is put around another.
const WRAPPERS: [&str; 6] = [
    "list<frozen<@>>",
    "set<frozen<@>>",
    "map<int, frozen<@>>",
    "tuple<int, @>",
    "vector<@, 2>",
    "u",
];

fn world() -> World {
    let mut world = World::new();
    run(&mut world, "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy'}");
    run(&mut world, "USE k");
    world
}

fn run(world: &mut World, text: &str) -> String {
    world.run(text).unwrap_or_else(|error| panic!("{text}: {}", error.message))
}

/// A type of this depth, and the statements that make the user types in it.
fn nested(depth: usize, which: impl Fn(usize) -> usize, name: &str) -> (String, Vec<String>) {
    let mut statements = Vec::new();
    let mut ty = "int".to_owned();
    for level in 1..depth {
        let wrapper = WRAPPERS[which(level) % WRAPPERS.len()];
        ty = if wrapper == "u" {
            let own = format!("{name}_{level}");
            statements.push(format!("CREATE TYPE IF NOT EXISTS {own} (a {}, b int)", frozen(&ty)));
            own
        } else if ty == "int" {
            wrapper.replace("frozen<@>", "int").replace('@', "int")
        } else {
            wrapper.replace("frozen<@>", &frozen(&ty)).replace('@', &frozen(&ty))
        };
    }
    (ty, statements)
}

fn frozen(ty: &str) -> String {
    match ty {
        "int" => ty.to_owned(),
        _ if ty.starts_with("vector") || ty.starts_with("tuple") => ty.to_owned(),
        _ => format!("frozen<{ty}>"),
    }
}

/// Makes a table, a type and a column of a type of each depth, and opens the store after each.
fn check(which: impl Fn(usize) -> usize + Copy, name: &str) {
    let mut world = world();
    run(&mut world, "CREATE TABLE base (k int PRIMARY KEY, v int)");
    run(&mut world, "INSERT INTO base (k, v) VALUES (1, 1)");
    for depth in 1..=TYPE_DEPTH_MAX - 1 {
        let (ty, types) = nested(depth, which, name);
        types.iter().for_each(|text| drop(run(&mut world, text)));
        let ty = frozen(&ty);
        let statements = [
            format!("CREATE TABLE {name}{depth} (k int, c {ty}, v {ty}, PRIMARY KEY (k, c))"),
            format!("CREATE TYPE {name}_t{depth} (a {ty})"),
            format!("ALTER TABLE base ADD {name}{depth} {ty}"),
        ];
        for text in &statements {
            run(&mut world, text);
            world.restart();
            assert_eq!(run(&mut world, "SELECT k, v FROM base"), "k | v\n1 | 1", "after {text}");
        }
        let shown = run(&mut world, &format!("DESCRIBE TABLE {name}{depth}"));
        assert!(shown.contains("PRIMARY KEY (k, c)"), "{shown}");
    }
    // One level too many is refused and leaves nothing.
    let (ty, types) = nested(TYPE_DEPTH_MAX + 1, which, name);
    let ty = frozen(&ty);
    let last = types.iter().map(|text| world.run(text)).filter_map(Result::err).next();
    let error = last.unwrap_or_else(|| {
        world.run(&format!("CREATE TABLE deep (k int PRIMARY KEY, v {ty})")).unwrap_err()
    });
    assert_eq!(error.message, "types are nested more deeply than 32 levels");
    world.restart();
    assert_eq!(run(&mut world, "SELECT k, v FROM base"), "k | v\n1 | 1");
}

#[test]
fn lists() {
    check(|_| 0, "l");
}

#[test]
fn sets() {
    check(|_| 1, "s");
}

#[test]
fn maps() {
    check(|_| 2, "m");
}

#[test]
fn tuples() {
    check(|_| 3, "t");
}

#[test]
fn user_types() {
    check(|_| 5, "u");
}

#[test]
fn mixes() {
    check(|level| level, "a");
    check(|level| level * 5 + 3, "b");
    check(|level| level * level, "c");
}

/// A row whose key is nested as deep as it may be comes back.
#[test]
fn deep_keys() {
    let mut world = world();
    for (name, open, close, ty) in [
        ("l", "[", "]", "frozen<list<@>>"),
        ("s", "{", "}", "frozen<set<@>>"),
        ("t", "(", ")", "tuple<@>"),
    ] {
        let levels = TYPE_DEPTH_MAX - 1;
        let ty = (0..levels).fold("int".to_owned(), |inner, _| ty.replace('@', &inner));
        run(&mut world, &format!("CREATE TABLE {name} (k int, c {ty}, PRIMARY KEY (k, c))"));
        let value = |n: u8| format!("{}{n}{}", open.repeat(levels), close.repeat(levels));
        for n in [2, 1] {
            run(&mut world, &format!("INSERT INTO {name} (k, c) VALUES (0, {})", value(n)));
        }
        world.restart();
        let rows = run(&mut world, &format!("SELECT c FROM {name}"));
        assert_eq!(rows, format!("c\n{}\n{}", value(1), value(2)));
    }
}

/// Types that each hold two of the one before double with every level.
#[test]
fn wide_types() {
    let mut world = world();
    run(&mut world, "CREATE TYPE w0 (a int, b int)");
    let mut refused = None;
    for level in 1..TYPE_DEPTH_MAX {
        let before = level - 1;
        let text = format!("CREATE TYPE w{level} (a frozen<w{before}>, b frozen<w{before}>)");
        if let Err(error) = world.run(&text) {
            refused = Some((level, error.message));
            break;
        }
    }
    let refused = refused.unwrap();
    // The record of the keyspace, which holds all of its types, is full before one is too wide.
    assert_eq!(refused, (14, "the namespace's record is too large".to_owned()));
    let all = vec!["frozen<w13>"; 200].join(", ");
    let error = world.run(&format!("CREATE TABLE t (k int PRIMARY KEY, v tuple<{all}>)"));
    assert_eq!(error.unwrap_err().message, "a type is made of more than 65536 types");
    world.restart();
    run(&mut world, "CREATE TABLE t (k int PRIMARY KEY, v frozen<w13>)");
}

/// A type that gets a field deepens the types and tables that hold it.
#[test]
fn a_field_that_makes_others_too_deep_is_refused() {
    let mut world = world();
    run(&mut world, "CREATE TYPE inner (a int)");
    let levels = TYPE_DEPTH_MAX - 2;
    let around =
        (0..levels).fold("inner".to_owned(), |ty, _| format!("frozen<list<frozen<{ty}>>>"));
    run(&mut world, &format!("CREATE TABLE t (k int PRIMARY KEY, v {around})"));
    let deeper = "ALTER TYPE inner ADD b frozen<list<int>>";
    assert_eq!(
        world.run(deeper).unwrap_err().message,
        "column v of table k.t would be nested more deeply than 32 levels or made of more than 65536 types"
    );
    run(&mut world, "ALTER TYPE inner ADD b int");
    world.restart();
    run(&mut world, "INSERT INTO t (k) VALUES (1)");
    run(&mut world, "DROP TABLE t");
    run(&mut world, "CREATE TYPE outer (a frozen<list<frozen<inner>>>)");
    let outer =
        (0..levels - 3).fold("outer".to_owned(), |ty, _| format!("frozen<list<frozen<{ty}>>>"));
    run(&mut world, &format!("CREATE TYPE most (a {outer})"));
    let error = world.run("ALTER TYPE inner ADD c frozen<list<frozen<list<int>>>>").unwrap_err();
    assert!(error.message.starts_with("type k.most would be nested"), "{}", error.message);
}

#[test]
fn class_names_nested_without_end_are_refused() {
    let deep = |name: &str, count: usize| {
        format!("{}Int32Type{}", format!("{name}(").repeat(count), ")".repeat(count))
    };
    for name in ["FrozenType", "ReversedType", "ListType", "TupleType", "SetType"] {
        assert!(parse_class_name(&deep(name, 31)).is_ok(), "{name}");
        for count in [65, 1_000, 100_000] {
            let error = parse_class_name(&deep(name, count)).unwrap_err();
            assert_eq!(error.0, "types are nested more deeply than 32 levels", "{name}");
        }
    }
}
