//! A blog: posts of an author, the newest of an author, the newest of all with the author's name,
//! editing and deleting.
//!
//! Two tables hold the same posts under two keys, and one transaction keeps them equal. Each
//! question is one range of one of them, read from its end.
//!
//! Run it with `cargo run -p shelfmark --example blog`.

#![expect(clippy::print_stdout, reason = "it shows what it does")]

use serde::{Deserialize, Serialize};
use shelfmark::{Database, OrderedTable, Result, Shelfmark, Timestamp};

/// What is stored of a post; who and when are its key.
#[derive(Clone, Serialize, Deserialize)]
struct Post {
    title: String,
    body: String,
}

struct Blog {
    database: Database,
    /// One author's posts are one stretch, in the order of time.
    by_author: OrderedTable<(String, Timestamp), Post>,
    /// All posts in the order of time; the author makes the key unique.
    by_time: OrderedTable<(Timestamp, String), Post>,
}

impl Blog {
    fn open(shelfmark: &Shelfmark) -> Result<Self> {
        let database = shelfmark.database("blog")?;
        Ok(Self {
            by_author: OrderedTable::named(&database, "posts-by-author")?,
            by_time: OrderedTable::named(&database, "posts-by-time")?,
            database,
        })
    }

    /// Writes a post under both keys. Writing one that is there edits it.
    fn write(&self, author: &str, at: Timestamp, post: &Post) -> Result<()> {
        self.database.transact(|tx| {
            tx.table(&self.by_author)?.write(&(author.to_owned(), at), post)?;
            tx.table(&self.by_time)?.write(&(at, author.to_owned()), post)
        })
    }

    fn delete(&self, author: &str, at: Timestamp) -> Result<()> {
        self.database.transact(|tx| {
            tx.table(&self.by_author)?.delete(&(author.to_owned(), at))?;
            tx.table(&self.by_time)?.delete(&(at, author.to_owned()))
        })
    }

    fn all_of(&self, author: &str) -> Result<Vec<Post>> {
        self.by_author.prefix(author)?.values().collect()
    }

    fn newest_of(&self, author: &str, count: usize) -> Result<Vec<Post>> {
        self.by_author.prefix(author)?.descending().limit(count).values().collect()
    }

    fn newest(&self, count: usize) -> Result<Vec<(String, Post)>> {
        let newest = self.by_time.to_stream().descending().limit(count);
        newest.iter().map(|entry| entry.map(|((_, author), post)| (author, post))).collect()
    }
}

fn show(question: &str, posts: impl IntoIterator<Item = String>) {
    println!("{question}");
    for post in posts {
        println!("    {post}");
    }
}

fn main() -> Result<()> {
    let shelfmark = Shelfmark::memory()?;
    let blog = Blog::open(&shelfmark)?;
    let start = shelfmark.now();
    let minute = |n: i64| Timestamp(start.0 + n * 60_000_000_000);
    let post = |title: &str, body: &str| Post { title: title.to_owned(), body: body.to_owned() };

    blog.write("Alice", minute(1), &post("Hello", "World"))?;
    blog.write("Bob", minute(2), &post("Goodbye", "Computer"))?;
    blog.write("Alice", minute(3), &post("On shelves", "They are ordered."))?;
    blog.write("Alice", minute(4), &post("On marks", "They say where."))?;
    blog.write("Bob", minute(5), &post("Back again", "I was not gone long."))?;

    let title = |post: Post| post.title;
    show("All posts of Alice:", blog.all_of("Alice")?.into_iter().map(title));
    show("Her newest two:", blog.newest_of("Alice", 2)?.into_iter().map(title));
    let with_author = |(author, post): (String, Post)| format!("{author}: {}", post.title);
    show("The newest three of all:", blog.newest(3)?.into_iter().map(with_author));

    blog.write("Alice", minute(4), &post("On bookmarks", "They say where, too."))?;
    blog.delete("Bob", minute(5))?;
    println!("Alice edits her newest post, Bob deletes his.");
    show("The newest three of all:", blog.newest(3)?.into_iter().map(with_author));
    let bodies = blog.newest_of("Alice", 1)?.into_iter().map(|post| post.body);
    show("What Alice's newest says now:", bodies);

    // Both keys of every post, or neither: the tables are equal.
    assert_eq!(blog.by_author.count()?, blog.by_time.count()?);
    shelfmark.close()
}
