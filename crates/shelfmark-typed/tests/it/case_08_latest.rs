//! Case 8: the newest posts of an author, and of all with the author's name: the tutorial's own
//! queries, by a descending range.

use serde::{Deserialize, Serialize};
use shelfmark_typed::{OrderedTable, Result, Timestamp};

use crate::drivers::on_every_driver;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Post {
    title: String,
    /// Also a name of a key part: both must survive.
    key1: u8,
}

fn post(title: &str) -> Post {
    Post { title: title.to_owned(), key1: 7 }
}

#[test]
fn the_newest_n_are_the_newest_n() {
    on_every_driver(|bed| {
        let by_author: OrderedTable<(String, Timestamp), Post> =
            OrderedTable::named(&bed.database, "postsByAuthor").unwrap();
        let by_time: OrderedTable<(Timestamp, String), Post> =
            OrderedTable::named(&bed.database, "postsByTimestamp").unwrap();
        for (author, time) in
            [("Alice", 10), ("Bob", 20), ("Alice", -5), ("Alice", 30), ("Bob", 25)]
        {
            let title = post(&format!("{author} at {time}"));
            bed.database
                .transact(|tx| {
                    tx.table(&by_author)?.write(&(author.into(), Timestamp(time)), &title)?;
                    tx.table(&by_time)?.write(&(Timestamp(time), author.into()), &title)
                })
                .unwrap();
        }
        let newest: Vec<Post> = by_author
            .prefix("Alice")
            .unwrap()
            .descending()
            .limit(2)
            .values()
            .collect::<Result<_>>()
            .unwrap();
        assert_eq!(newest, [post("Alice at 30"), post("Alice at 10")]);
        let overall: Vec<(String, String)> = by_time
            .to_stream()
            .descending()
            .limit(3)
            .iter()
            .map(|entry| entry.map(|((_, author), post)| (author, post.title)))
            .collect::<Result<_>>()
            .unwrap();
        let expected = [("Alice", "Alice at 30"), ("Bob", "Bob at 25"), ("Bob", "Bob at 20")];
        let expected = expected.map(|(author, title)| (author.to_owned(), title.to_owned()));
        assert_eq!(overall, expected);
    });
}
