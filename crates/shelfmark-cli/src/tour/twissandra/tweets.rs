//! Tweets of a user, the timeline from its newest end, two tweets of one instant, a new tweet.

use super::data::{Tweet, World};
use super::families::new_tweet;
use super::session::{Column, Session, column, run};
use crate::tour::asker::{Answer, Asker, Question};
use crate::tour::outcome::Plan;
use crate::tour::uuid::Uuid;
use shelfmark_store::random::SplitMix;

const NEWEST: usize = 10;

pub(super) fn ask(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    of_a_user(asker, session, world)?;
    newest(asker, session, world)?;
    with_texts(asker, session, world)?;
    of_an_instant(asker, session, world)?;
    write(asker, session, world)
}

fn value(column: &Column) -> String {
    column.value.clone()
}

/// Returns the tweet's id in a column's name of time and id.
fn id_of(column: &Column) -> String {
    column.name.split_once(':').map_or("", |(_, id)| id).to_owned()
}

fn of_a_user(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    // The first that the example user follows.
    let Some(author) = world.users.get(1) else { return Ok(()) };
    let own = world.tweets.iter().filter(|tweet| tweet.author == 1);
    let expected: Vec<String> = own.rev().map(|tweet| tweet.text.clone()).collect();
    for (plan, command, note) in [
        (
            Plan::Published,
            format!("get Tweet where user_uuid = '{}';", author.id),
            "the key is the tweet, and its author has no index",
        ),
        (
            Plan::Right,
            format!("get Userline['{}'];", author.id),
            "a row for each author, newest first, the text as the value",
        ),
    ] {
        let question = Question {
            pattern: "tweets of a user",
            plan,
            question: format!("What did {} write, newest first?", author.name),
            range: command.clone(),
            note,
        };
        asker.ask(question, &expected, || session.ask(&command, value))?;
    }
    Ok(())
}

fn newest(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    let Some(reader) = world.users.first() else { return Ok(()) };
    let timeline = world.timeline(0);
    let expected: Vec<String> =
        timeline.iter().take(NEWEST).map(|tweet| tweet.id.to_string()).collect();
    for (plan, family, show, note) in [
        (
            Plan::Published,
            "Timeline",
            value as fn(&Column) -> String,
            "ascending, and the language cannot read backwards: the oldest",
        ),
        (
            Plan::Right,
            "Newsline",
            id_of,
            "the comparator runs backwards, and the tweet's id keeps an instant's tweets apart",
        ),
    ] {
        let command = format!("get {family}['{}'] limit {NEWEST};", reader.id);
        let question = Question {
            pattern: "newest of the timeline",
            plan,
            question: format!("The newest {NEWEST} tweets that {} is to see", reader.name),
            range: command.clone(),
            note,
        };
        asker.ask(question, &expected, || session.ask(&command, show))?;
    }
    Ok(())
}

fn with_texts(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    let Some(reader) = world.users.first() else { return Ok(()) };
    let timeline = world.timeline(0);
    let expected: Vec<String> =
        timeline.iter().take(NEWEST).map(|tweet| tweet.text.clone()).collect();
    let question = |plan, range, note| Question {
        pattern: "timeline with texts",
        plan,
        question: format!("The same {NEWEST} tweets for {}, with their texts", reader.name),
        range,
        note,
    };
    let ids = format!("get Timeline['{}'] limit {NEWEST};", reader.id);
    asker.ask(
        question(
            Plan::Published,
            format!("{ids} then for each get Tweet[id]['tweet_content'];"),
            "the oldest again, and a timeline of ids needs one more read for each tweet",
        ),
        &expected,
        || {
            session.work(|client| {
                let mut values = Vec::new();
                for line in run(client, &ids)? {
                    let Some(Column { value: id, .. }) = column(&line) else { continue };
                    let text = run(client, &format!("get Tweet['{id}']['tweet_content'];"))?;
                    values.extend(text.iter().filter_map(|line| Some(column(line)?.value)));
                }
                Ok(values)
            })
        },
    )?;
    let command = format!("get Newsline['{}'] limit {NEWEST};", reader.id);
    asker.ask(
        question(Plan::Right, command.clone(), "the text lies in the timeline itself"),
        &expected,
        || session.ask(&command, value),
    )
}

fn of_an_instant(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    let Some(reader) = world.users.first() else { return Ok(()) };
    let timeline = world.timeline(0);
    let next = timeline.iter().skip(1);
    let twins = timeline.iter().zip(next).find(|(a, b)| a.at_micros == b.at_micros);
    let Some((first, second)) = twins else { return Ok(()) };
    let at = first.at_micros;
    let expected = [first.id.to_string(), second.id.to_string()];
    for (plan, family, show, note) in [
        (
            Plan::Published,
            "Timeline",
            value as fn(&Column) -> String,
            "the column's name is the time alone: the later tweet takes the earlier one's place",
        ),
        (Plan::Right, "Newsline", id_of, "time and id: two columns that begin alike"),
    ] {
        let command = format!("get {family}['{}']['{at}'];", reader.id);
        let question = Question {
            pattern: "two tweets in one instant",
            plan,
            question: "Two tweets of the same microsecond: which?".to_owned(),
            range: command.clone(),
            note,
        };
        asker.ask(question, &expected, || session.ask(&command, show))?;
    }
    Ok(())
}

fn write(asker: &mut Asker, session: &mut Session, world: &World) -> anyhow::Result<()> {
    let Some(newest) = world.tweets.last() else { return Ok(()) };
    let mut random = SplitMix::new(newest.at_micros);
    let tweet = Tweet {
        id: Uuid::random(&mut random),
        author: 1,
        text: "A new thought".to_owned(),
        at_micros: newest.at_micros + 1,
    };
    let readers = world.readers(tweet.author);
    let expected = vec![tweet.id.to_string(); readers.len()];
    let question = Question {
        pattern: "a new tweet",
        plan: Plan::Published,
        question: format!("A tweet reaches the timelines of all {} readers", readers.len()),
        range: "set Tweet[id]; for each reader set Timeline[reader][time]".to_owned(),
        note: "one set after the other: right when alone, but a crash between them leaves \
               timelines without it",
    };
    asker.ask(question, &expected, || {
        let answer = session.work(|client| run(client, &new_tweet(&tweet, world)))?;
        let mut values = Vec::new();
        for reader in &readers {
            let command = format!("get Newsline['{}'] limit 1;", reader.id);
            values.extend(session.ask(&command, id_of)?.values);
        }
        Ok(Answer { values, ..answer })
    })
}
