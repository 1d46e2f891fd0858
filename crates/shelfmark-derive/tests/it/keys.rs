//! Derived keys at work.

use shelfmark::model::{Direction, KeyType};
use shelfmark::{
    ErrorKind, KeyPart, KeyPrefix, OrderedKey, OrderedTable, Shelfmark, Timestamp, Value,
};

#[derive(Debug, Clone, Copy, PartialEq, KeyPart)]
enum Kind {
    Note,
    Task = 7,
    Last = -3,
}

#[derive(Debug, Clone, PartialEq, KeyPart)]
struct Author {
    name: String,
}

#[derive(Debug, Clone, PartialEq, OrderedKey)]
struct Wide {
    author: Author,
    #[key(descending)]
    at: Timestamp,
    #[key(name = "type", descending)]
    kind: Kind,
    r#in: Option<std::cmp::Reverse<u8>>,
}

#[derive(Debug, Clone, PartialEq, OrderedKey)]
struct Pair(String, #[key(descending)] std::cmp::Reverse<u32>);

#[derive(Debug, Clone, PartialEq, OrderedKey)]
struct Alone {
    id: u64,
}

fn wide(name: &str, at: i64, kind: Kind) -> Wide {
    Wide { author: Author { name: name.into() }, at: Timestamp(at), kind, r#in: None }
}

#[test]
fn columns_have_names_types_and_directions() {
    let columns: Vec<_> = Wide::columns()
        .into_iter()
        .map(|column| (column.name, column.key_type, column.direction))
        .collect();
    let (up, down) = (Direction::Ascending, Direction::Descending);
    assert_eq!(
        columns,
        [
            ("author".to_owned(), KeyType::Text, up),
            ("at".to_owned(), KeyType::I64, down),
            ("type".to_owned(), KeyType::I32, down),
            ("in".to_owned(), KeyType::Kinded(Box::new(KeyType::U8)), down),
        ]
    );
    let pair = Pair::columns();
    assert_eq!((pair[0].name.as_str(), pair[0].direction), ("key1", up));
    assert_eq!((pair[1].name.as_str(), pair[1].direction), ("key2", up), "twice reversed");
}

#[test]
fn keys_come_back_and_what_is_no_key_does_not() {
    for key in [wide("a", 1, Kind::Note), wide("", -1, Kind::Task), wide("ä", 0, Kind::Last)] {
        assert_eq!(Wide::from_values(key.to_values()).unwrap(), key);
    }
    assert_eq!(wide("a", 1, Kind::Last).to_values()[2], Value::Int(-3));
    let mut values = wide("a", 1, Kind::Note).to_values();
    values[2] = Value::Int(1);
    assert_eq!(Wide::from_values(values.clone()).unwrap_err().kind(), ErrorKind::Mismatch);
    values.pop();
    assert_eq!(Wide::from_values(values).unwrap_err().kind(), ErrorKind::Mismatch);
    let long = vec![Value::Int(1), Value::Int(2)];
    assert_eq!(Alone::from_values(long).unwrap_err().kind(), ErrorKind::Mismatch);
}

#[test]
fn leading_parts_are_prefixes() {
    fn of<K>(prefix: impl KeyPrefix<K>) -> usize {
        prefix.to_prefix().len()
    }
    let author = Author { name: "a".into() };
    assert_eq!(of::<Wide>(author.clone()), 1);
    assert_eq!(of::<Wide>((author.clone(),)), 1);
    assert_eq!(of::<Wide>((author.clone(), Timestamp(1))), 2);
    assert_eq!(of::<Wide>((author, Timestamp(1), Kind::Note)), 3);
    assert_eq!(of::<Wide>(wide("a", 1, Kind::Note)), 4);
    assert_eq!(of::<Pair>("borrowed"), 1);
    assert_eq!(of::<Alone>(7), 1);
}

#[test]
fn a_table_is_in_the_order_of_the_fields() {
    let shelfmark = Shelfmark::memory().unwrap();
    let database = shelfmark.database("t").unwrap();
    let table: OrderedTable<Wide, u8> = OrderedTable::named(&database, "wide").unwrap();
    let keys = [
        wide("a", 5, Kind::Task),
        wide("a", 5, Kind::Note),
        wide("a", 5, Kind::Last),
        wide("a", 1, Kind::Task),
        wide("b", 9, Kind::Note),
    ];
    for key in keys.iter().rev() {
        table.write(key, &0).unwrap();
    }
    let found: Vec<Wide> = table.to_stream().keys().map(Result::unwrap).collect();
    assert_eq!(found, keys);
    let prefix = (Author { name: "a".into() }, Timestamp(5));
    assert_eq!(table.prefix(prefix).unwrap().count().unwrap(), 3);
    shelfmark.close().unwrap();
}

/// The key of the article on ordered tables: a record of two fields, and a moment.
#[derive(Debug, Clone, PartialEq, OrderedKey)]
struct Writer {
    id: u64,
    name: String,
}

#[derive(Debug, Clone, PartialEq, OrderedKey)]
struct Post {
    #[key(descending)]
    writer: Writer,
    at: (Timestamp, u8),
}

#[test]
fn keys_within_keys_are_flat() {
    let columns: Vec<_> =
        Post::columns().into_iter().map(|column| (column.name, column.direction)).collect();
    let (up, down) = (Direction::Ascending, Direction::Descending);
    let expected = [("writer.id", down), ("writer.name", down), ("at.key1", up), ("at.key2", up)];
    assert_eq!(columns, expected.map(|(name, direction)| (name.to_owned(), direction)));
    let writer = |id, name: &str| Writer { id, name: name.into() };
    let post = Post { writer: writer(1, "ann"), at: (Timestamp(5), 7) };
    let flat = (1_u64, "ann".to_owned(), Timestamp::<9>(5), 7_u8);
    assert_eq!(post.to_values(), flat.to_values());
    assert_eq!(Post::from_values(post.to_values()).unwrap(), post);
    let mut short = post.to_values();
    short.pop();
    assert_eq!(Post::from_values(short).unwrap_err().kind(), ErrorKind::Mismatch);

    let shelfmark = Shelfmark::memory().unwrap();
    let database = shelfmark.database("t").unwrap();
    // As the article has it: `OrderedTable (Author, OffsetDateTime) Post`.
    let posts: OrderedTable<(Writer, Timestamp), String> =
        OrderedTable::named(&database, "posts").unwrap();
    for (id, name, at) in [(1, "ann", 1), (1, "ann", 2), (1, "bob", 1), (2, "ann", 1)] {
        posts.insert((writer(id, name), Timestamp(at)), &format!("{name} {at}")).unwrap();
    }
    let ann = writer(1, "ann");
    let newest = posts.prefix((&ann,)).unwrap().descending().limit(1).values().next();
    assert_eq!(newest.transpose().unwrap().as_deref(), Some("ann 2"));
    assert_eq!(posts.get((&ann, Timestamp(1))).unwrap().as_deref(), Some("ann 1"));
    assert_eq!(posts.range_prefix((&ann,)..).unwrap().count().unwrap(), 4);
    let nested: OrderedTable<Post, u8> = OrderedTable::named(&database, "nested").unwrap();
    nested.insert(&post, &1).unwrap();
    assert_eq!(nested.get(&post).unwrap(), Some(1));
    assert_eq!(nested.prefix(ann).unwrap().keys().next().transpose().unwrap(), Some(post));
    shelfmark.close().unwrap();
}
