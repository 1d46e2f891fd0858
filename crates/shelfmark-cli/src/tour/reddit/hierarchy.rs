//! Subreddits, posts, comments and replies in one sort key.

use shelfmark_store::random::SplitMix;
use shelfmark_typed::Attributes;

use crate::tour::asker::{Asker, Question};
use crate::tour::entities::Entities;
use crate::tour::outcome::Plan;

const SUBREDDITS: usize = 5;
const POSTS: usize = 40;
const COMMENTS: usize = 30;
const REPLIES: u64 = 5;

/// The guide's own partition, and the one with a key order for each question.
const PUBLISHED: &str = "reddit";
const RIGHT: &str = "reddit-right";

/// A comment with its key and its replies.
struct Comment {
    subreddit: usize,
    post: usize,
    id: String,
    replies: Vec<String>,
}

pub(super) fn run(asker: &mut Asker, entities: &Entities, seed: u64) -> anyhow::Result<()> {
    let comments = generate(seed);
    load(entities, &comments)?;
    of_a_post(asker, entities, &comments)?;
    of_a_subreddit(asker, entities, &comments)?;
    replies(asker, entities, &comments)
}

fn generate(seed: u64) -> Vec<Comment> {
    let mut random = SplitMix::new(seed);
    let mut comments = Vec::new();
    for subreddit in 0..SUBREDDITS {
        for post in 0..POSTS {
            for comment in 0..COMMENTS {
                let replies =
                    (0..random.below(REPLIES)).map(|reply| format!("r{reply:02}")).collect();
                comments.push(Comment { subreddit, post, id: format!("c{comment:02}"), replies });
            }
        }
    }
    comments
}

impl Comment {
    fn published(&self) -> String {
        format!("subreddits#s{}#posts#p{:02}#comment#{}", self.subreddit, self.post, self.id)
    }

    fn reply(&self, reply: &str) -> String {
        format!(
            "subreddits#s{}#posts#p{:02}#comments#{}#reply#{reply}",
            self.subreddit, self.post, self.id
        )
    }

    fn right(&self) -> String {
        format!("subreddit#s{}#comment#p{:02}#{}", self.subreddit, self.post, self.id)
    }
}

fn load(entities: &Entities, comments: &[Comment]) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for comment in comments {
        rows.push((PUBLISHED.to_owned(), comment.published()));
        rows.push((RIGHT.to_owned(), comment.right()));
        for reply in &comment.replies {
            rows.push((PUBLISHED.to_owned(), comment.reply(reply)));
        }
    }
    entities.put_all(&rows, attributes)
}

/// Returns the attributes of a comment or a reply.
fn attributes(_: &str, sk: &str) -> Attributes {
    let (place, id) = sk.rsplit_once('#').unwrap_or(("", sk));
    Attributes::new()
        .with("author", format!("reader-{id}"))
        .with("text", format!("What {id} thinks of {place}"))
}

fn of_a_post(asker: &mut Asker, entities: &Entities, comments: &[Comment]) -> anyhow::Result<()> {
    let prefix = "subreddits#s2#posts#p07#comment#";
    let expected: Vec<String> =
        comments.iter().map(Comment::published).filter(|key| key.starts_with(prefix)).collect();
    asker.ask(
        Question {
            pattern: "comments of a post",
            plan: Plan::Published,
            question: "All comments of post p07 in subreddit s2".to_owned(),
            range: format!("PK = {PUBLISHED}, SK begins with {prefix}"),
            note: "comment# against comments# keeps the replies out of the range",
        },
        &expected,
        || entities.prefix(PUBLISHED, prefix, true, 100_000),
    )
}

fn of_a_subreddit(
    asker: &mut Asker,
    entities: &Entities,
    comments: &[Comment],
) -> anyhow::Result<()> {
    let question = |plan, range, note| Question {
        pattern: "comments of a subreddit",
        plan,
        question: "All comments in subreddit s2".to_owned(),
        range,
        note,
    };
    let own = || comments.iter().filter(|comment| comment.subreddit == 2);
    asker.ask(
        question(
            Plan::Published,
            format!("PK = {PUBLISHED}, SK begins with subreddits#s2#posts#"),
            "a post's replies lie between its comments and the next post's",
        ),
        &own().map(Comment::published).collect::<Vec<_>>(),
        || entities.prefix(PUBLISHED, "subreddits#s2#posts#", true, 100_000),
    )?;
    asker.ask(
        question(
            Plan::Right,
            format!("PK = {RIGHT}, SK begins with subreddit#s2#comment#"),
            "the kind of row comes before the post, so comments are one range at both levels",
        ),
        &own().map(Comment::right).collect::<Vec<_>>(),
        || entities.prefix(RIGHT, "subreddit#s2#comment#", true, 100_000),
    )
}

fn replies(asker: &mut Asker, entities: &Entities, comments: &[Comment]) -> anyhow::Result<()> {
    let Some(comment) = comments.iter().find(|comment| comment.replies.len() > 2) else {
        return Ok(());
    };
    let prefix = comment.reply("");
    asker.ask(
        Question {
            pattern: "replies of a comment",
            plan: Plan::Published,
            question: format!("All replies to comment {}", comment.id),
            range: format!("PK = {PUBLISHED}, SK begins with {prefix}"),
            note: "one contiguous range",
        },
        &comment.replies.iter().map(|reply| comment.reply(reply)).collect::<Vec<_>>(),
        || entities.prefix(PUBLISHED, &prefix, true, 100_000),
    )
}
