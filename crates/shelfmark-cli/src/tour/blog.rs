//! The blog through typed ordered tables: tuple keys, reversed streams, two tables in one
//! transaction.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use shelfmark_store::random::SplitMix;
use shelfmark_typed::{Database, OrderedTable, Registry};

use super::asker::{Answer, Asker, Question};
use super::meter::Meter;
use super::{Outcome, Plan, Stage};

const AUTHORS: usize = 50;
const POSTS: usize = 20_000;
const NEWEST: usize = 5;
const STARTED: u64 = 1_700_000_000;
const BATCH: usize = 500;
const EXAMPLE_AUTHOR: &str = "author-07";

/// A post, with its author's name for lists over all authors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Post {
    title: String,
    body: String,
    author_name: String,
}

type ByAuthor = OrderedTable<(String, u64), Post>;
type ByTime = OrderedTable<(u64, String), Post>;

/// The two tables of the document, and their content.
struct Blog {
    database: Database,
    by_author: ByAuthor,
    by_time: ByTime,
    meter: Meter,
    posts: BTreeMap<(u64, String), Post>,
}

/// Loads the posts and asks the document's questions.
pub(super) fn run(stage: &Stage<'_>) -> anyhow::Result<Vec<Outcome>> {
    (stage.progress)("loading posts");
    let mut blog = Blog::open(stage)?;
    blog.load(stage.seed)?;
    (stage.progress)("asking");
    let mut asker = Asker::new("blog", "orderedtable", stage.engine.environment().clock.clone());
    posts_of_an_author(&mut asker, &blog)?;
    newest_of_an_author(&mut asker, &blog)?;
    newest_of_all(&mut asker, &blog)?;
    edit_and_delete(&mut asker, &mut blog)?;
    Ok(asker.outcomes)
}

impl Blog {
    fn open(stage: &Stage<'_>) -> anyhow::Result<Self> {
        let meter = Meter::default();
        let environment = Registry::open(&meter.on(stage.engine))?.environment("default")?;
        let database = environment.create_database("posts")?;
        let by_author = OrderedTable::named(&database, "postsByAuthor")?;
        let by_time = OrderedTable::named(&database, "postsByTimestamp")?;
        Ok(Self { database, by_author, by_time, meter, posts: BTreeMap::new() })
    }

    fn load(&mut self, seed: u64) -> anyhow::Result<()> {
        let mut random = SplitMix::new(seed);
        for number in 0..POSTS {
            let author = format!("author-{:02}", random.index(AUTHORS));
            let post = Post {
                title: format!("Post {number}"),
                body: format!("What {author} thinks of the number {number}, at some length."),
                author_name: format!("Name of {author}"),
            };
            self.posts.insert((STARTED + number as u64 * 60, author), post);
        }
        let posts: Vec<_> = self.posts.iter().collect();
        for batch in posts.chunks(BATCH) {
            self.database.transact(|tx| {
                let (by_author, by_time) = (tx.table(&self.by_author)?, tx.table(&self.by_time)?);
                for ((time, author), post) in batch {
                    by_author.write(&(author.clone(), *time), post)?;
                    by_time.write(&(*time, author.clone()), post)?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Returns titles of the example author's posts, oldest first.
    fn of_example(&self) -> Vec<String> {
        let own = self.posts.iter().filter(|((_, author), _)| author == EXAMPLE_AUTHOR);
        own.map(|(_, post)| post.title.clone()).collect()
    }

    fn titles(
        &self,
        read: impl FnOnce(&Self) -> shelfmark_typed::Result<Vec<Post>>,
        show: impl Fn(&Post) -> String,
    ) -> anyhow::Result<Answer> {
        let (posts, rows) = self.meter.measure(|| Ok(read(self)?))?;
        Ok(Answer::new(posts.iter().map(show).collect(), rows))
    }
}

fn title(post: &Post) -> String {
    post.title.clone()
}

fn posts_of_an_author(asker: &mut Asker, blog: &Blog) -> anyhow::Result<()> {
    asker.ask(
        Question {
            pattern: "posts of an author",
            plan: Plan::Published,
            question: format!("All posts of {EXAMPLE_AUTHOR}"),
            range: format!("postsByAuthor, keys ({EXAMPLE_AUTHOR}, any time)"),
            note: "a tuple's first part is a prefix: one contiguous range",
        },
        &blog.of_example(),
        || {
            let author = EXAMPLE_AUTHOR.to_owned();
            blog.titles(|blog| blog.by_author.prefix((author,))?.values().collect(), title)
        },
    )
}

fn newest_of_an_author(asker: &mut Asker, blog: &Blog) -> anyhow::Result<()> {
    let expected: Vec<String> = blog.of_example().into_iter().rev().take(NEWEST).collect();
    let question = |plan, way: &str, note| Question {
        pattern: "newest of an author",
        plan,
        question: format!("The newest {NEWEST} posts of {EXAMPLE_AUTHOR}"),
        range: format!("postsByAuthor, keys ({EXAMPLE_AUTHOR}, any time){way}, take {NEWEST}"),
        note,
    };
    let author = || (EXAMPLE_AUTHOR.to_owned(),);
    asker.ask(
        question(Plan::Published, "", "an ascending stream begins with the oldest"),
        &expected,
        || {
            let read =
                |blog: &Blog| blog.by_author.prefix(author())?.limit(NEWEST).values().collect();
            blog.titles(read, title)
        },
    )?;
    asker.ask(
        question(Plan::Right, ", reversed", "the same range, read from its end"),
        &expected,
        || {
            let read = |blog: &Blog| {
                blog.by_author.prefix(author())?.descending().limit(NEWEST).values().collect()
            };
            blog.titles(read, title)
        },
    )
}

fn newest_of_all(asker: &mut Asker, blog: &Blog) -> anyhow::Result<()> {
    let show = |post: &Post| format!("{} by {}", post.title, post.author_name);
    let expected: Vec<String> = blog.posts.values().rev().take(NEWEST).map(show).collect();
    let question = |plan, range: String, note| Question {
        pattern: "newest of all",
        plan,
        question: format!("The newest {NEWEST} posts of the whole blog, with their authors' names"),
        range,
        note,
    };
    let Some((time, _)) = blog.posts.keys().next_back() else { return Ok(()) };
    asker.ask(
        question(
            Plan::Published,
            format!("postsByTimestamp, keys ({time}, any author), take {NEWEST}"),
            "from a time to the same time: only posts of that very instant",
        ),
        &expected,
        || {
            let read =
                |blog: &Blog| blog.by_time.prefix((*time,))?.limit(NEWEST).values().collect();
            blog.titles(read, show)
        },
    )?;
    asker.ask(
        question(
            Plan::Right,
            format!("postsByTimestamp, all keys, reversed, take {NEWEST}"),
            "the whole table from its end; the name is kept in the post, so nothing is fetched",
        ),
        &expected,
        || {
            let read = |blog: &Blog| {
                blog.by_time.to_stream().descending().limit(NEWEST).values().collect()
            };
            blog.titles(read, show)
        },
    )
}

fn edit_and_delete(asker: &mut Asker, blog: &mut Blog) -> anyhow::Result<()> {
    let Some(((time, author), _)) = blog.posts.iter().next_back() else { return Ok(()) };
    let (time, author) = (*time, author.clone());
    let question = |pattern, what: &str, note| Question {
        pattern,
        plan: Plan::Right,
        question: format!("{what} a post: both tables change or neither does"),
        range: format!("postsByAuthor ({author}, {time}) and postsByTimestamp ({time}, {author})"),
        note,
    };
    asker.ask(
        question("edit a post", "Edit", "the post is found by its key in both; no list is locked"),
        &["Edited".to_owned(), "Edited".to_owned()],
        || {
            let ((), rows) = blog.meter.measure(|| Ok(edit(blog, time, &author)?))?;
            let values = [
                blog.by_author.read(&(author.clone(), time))?,
                blog.by_time.read(&(time, author.clone()))?,
            ];
            Ok(Answer::new(values.iter().map(title).collect(), rows))
        },
    )?;
    asker.ask(question("delete a post", "Delete", "one transaction over both tables"), &[], || {
        let delete = || {
            blog.database.transact(|tx| {
                tx.table(&blog.by_author)?.delete(&(author.clone(), time))?;
                tx.table(&blog.by_time)?.delete(&(time, author.clone()))
            })
        };
        let ((), rows) = blog.meter.measure(|| Ok(delete()?))?;
        let left = [
            blog.by_author.try_read(&(author.clone(), time))?,
            blog.by_time.try_read(&(time, author.clone()))?,
        ];
        Ok(Answer::new(left.iter().flatten().map(title).collect(), rows))
    })
}

fn edit(blog: &Blog, time: u64, author: &str) -> shelfmark_typed::Result<()> {
    blog.database.transact(|tx| {
        let (by_author, by_time) = (tx.table(&blog.by_author)?, tx.table(&blog.by_time)?);
        let mut post = by_author.read(&(author.to_owned(), time))?;
        post.title = "Edited".to_owned();
        by_author.write(&(author.to_owned(), time), &post)?;
        by_time.write(&(time, author.to_owned()), &post)
    })
}
