//! The column families: the five of the document, and four that answer what those cannot.

use shelfmark_cassandra_cli::{Backend, Client};

use super::data::{Tweet, User, World};
use super::session::run;

/// The document's keyspace and families, and beside them:
///
/// * `UserByDay`: who was created on a day, by the time of it.
/// * `Userline`: the tweets of one user, newest first.
/// * `Newsline`: a timeline that is read from its newest end, with the tweet's id in the column's
///   name and its text as the value.
const SCHEMA: &str = include_str!("../../../data/tour/twissandra.txt");

/// Creates and fills them.
pub(super) fn create(client: &mut Client<impl Backend>, world: &World) -> anyhow::Result<()> {
    run(client, SCHEMA)?;
    for user in &world.users {
        run(client, &new_user(user))?;
        run(client, &friends(user, world))?;
    }
    for tweet in &world.tweets {
        run(client, &new_tweet(tweet, world))?;
    }
    // Reading makes sure that all of it is written.
    run(client, "count User['nobody'];")?;
    Ok(())
}

fn new_user(user: &User) -> String {
    let User { id, name, created_micros, .. } = user;
    let day = user.day();
    format!(
        "set User['{id}']['user_name'] = '{name}';
set User['{id}']['user_password'] = '******';
set User['{id}']['create_timestamp'] = {created_micros};
set UserByDay['{day}']['{created_micros}'] = '{id}';
"
    )
}

/// Returns the commands for both sides of each friendship.
fn friends(user: &User, world: &World) -> String {
    let id = user.id;
    let both = user.friends.iter().filter_map(|(friend, at)| {
        let friend = world.users.get(*friend)?.id;
        Some(format!(
            "set Friend['{id}']['{at}'] = '{friend}';\nset Follower['{friend}']['{at}'] = '{id}';\n"
        ))
    });
    both.collect()
}

/// Returns the commands for a new tweet.
pub(super) fn new_tweet(tweet: &Tweet, world: &World) -> String {
    let Tweet { id, text, at_micros: at, author } = tweet;
    let mut commands = String::new();
    if let Some(author) = world.users.get(*author) {
        let author = author.id;
        commands.push_str(&format!(
            "set Tweet['{id}']['user_uuid'] = '{author}';
set Tweet['{id}']['tweet_content'] = '{text}';
set Userline['{author}']['{at}:{id}'] = '{text}';
"
        ));
    }
    for reader in world.readers(*author) {
        let reader = reader.id;
        commands.push_str(&format!(
            "set Timeline['{reader}']['{at}'] = '{id}';
set Newsline['{reader}']['{at}:{id}'] = '{text}';
"
        ));
    }
    commands
}
