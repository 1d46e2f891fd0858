//! Tables of a Rust program, which the scripts read through both faces.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use shelfmark_engine::Engine;
use shelfmark_typed::{
    Attributes, Blob, Date, EntityTable, OrderedKey, OrderedTable, Registry, TimestampMillis,
    TotalF64, Uuid,
};

#[derive(Debug, Clone, OrderedKey)]
#[key(crate = shelfmark_typed)]
struct PostKey {
    author: String,
    #[key(descending)]
    nr: u32,
}

/// A value with a field of every kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Post {
    title: String,
    likes: u64,
    stars: Option<i32>,
    draft: bool,
    rank: f64,
    written: TimestampMillis,
    day: Date,
    id: Uuid,
    raw: Blob,
    tags: Vec<String>,
    votes: BTreeMap<u32, i8>,
    /// Named as a part of the key is.
    author: String,
    address: IpAddr,
}

fn post(title: &str) -> Post {
    Post {
        title: title.to_owned(),
        likes: u64::MAX,
        stars: Some(4),
        draft: false,
        rank: 0.5,
        written: TimestampMillis::try_from(std::time::UNIX_EPOCH).unwrap(),
        day: Date(20_000),
        id: Uuid([7; 16]),
        raw: Blob(vec![1, 255]),
        tags: vec!["a".to_owned(), "b".to_owned()],
        votes: BTreeMap::from([(7, -1)]),
        author: "pen name".to_owned(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

/// Writes the tables, as a program would.
pub(super) fn write(engine: &Engine) {
    let registry = Registry::open(engine).unwrap();
    let home = registry.environment("home").unwrap();
    let blog = home.create_database("blog").unwrap();
    let posts: OrderedTable<PostKey, Post> = OrderedTable::named(&blog, "posts").unwrap();
    let key = |author: &str, nr| PostKey { author: author.to_owned(), nr };
    for (author, number) in [("alice", 1), ("alice", 2), ("alice", 30), ("bob", 1)] {
        posts.write(&key(author, number), &post(&format!("{author} {number}"))).unwrap();
    }
    posts.write_with_ttl(&key("carol", 1), &post("gone"), Duration::from_secs(10)).unwrap();
    let visits: OrderedTable<(String, Reverse<u16>), bool> =
        OrderedTable::named(&blog, "visits").unwrap();
    visits.write(&("a".to_owned(), Reverse(7)), &true).unwrap();
    let squares: OrderedTable<i64, i64> = OrderedTable::named(&blog, "squares").unwrap();
    for n in -2..3 {
        squares.write(&n, &(n * n)).unwrap();
    }
    let large: OrderedTable<u128, String> = OrderedTable::named(&blog, "large").unwrap();
    large.write(&1, &"one".to_owned()).unwrap();
    large.write(&u128::MAX, &"all".to_owned()).unwrap();
    let scores: OrderedTable<(TotalF64, Option<bool>, Uuid), u8> =
        OrderedTable::named(&blog, "scores").unwrap();
    for (score, flag) in [(2.5, None), (2.5, Some(true)), (-1.0, Some(false))] {
        scores.write(&(TotalF64(score), flag, Uuid([1; 16])), &1).unwrap();
    }
    let people = EntityTable::named(&blog, "people").unwrap();
    for (partition, sk, age) in
        [("users", "ada", 36_i64), ("users", "bob", 41), ("admins", "eve", 7)]
    {
        let attributes = Attributes::new().with("age", age).with("city", "Ulm");
        people.partition(partition).put(sk, attributes).unwrap();
    }
}
