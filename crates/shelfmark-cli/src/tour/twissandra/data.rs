//! Generates users, who follows whom, and tweets, from a seed.

use shelfmark_store::random::SplitMix;

use crate::tour::names;
use crate::tour::uuid::Uuid;

const USERS: usize = 150;
const FRIENDS: usize = 8;
const TWEETS: usize = 900;
/// One tweet in so many is written in the same microsecond as the one before.
const SAME_INSTANT: usize = 15;
/// 2012-02-21, in microseconds since the Unix epoch.
const STARTED_MICROS: u64 = 1_329_782_400_000_000;
const DAY_MICROS: u64 = 86_400_000_000;

/// A user.
pub(super) struct User {
    pub(super) id: Uuid,
    pub(super) name: String,
    pub(super) created_micros: u64,
    /// Numbers of the users that this one follows, with when that began; ascending in time.
    pub(super) friends: Vec<(usize, u64)>,
}

impl User {
    /// Returns the day that the user was created, in days since the first.
    pub(super) fn day(&self) -> u64 {
        (self.created_micros - STARTED_MICROS) / DAY_MICROS
    }
}

/// A tweet.
pub(super) struct Tweet {
    pub(super) id: Uuid,
    pub(super) author: usize,
    pub(super) text: String,
    pub(super) at_micros: u64,
}

/// The generated data; the example user is the first.
pub(super) struct World {
    pub(super) users: Vec<User>,
    /// Oldest first.
    pub(super) tweets: Vec<Tweet>,
}

impl World {
    /// Generates the data of a seed.
    pub(super) fn generate(seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        let mut users: Vec<User> = (0..USERS).map(|number| user(number, &mut random)).collect();
        befriend(&mut users, &mut random);
        let mut at_micros = STARTED_MICROS + 30 * DAY_MICROS;
        let tweets = (0..TWEETS).map(|number| {
            let within = number % SAME_INSTANT;
            if within != 1 {
                at_micros += 1 + random.below(90_000_000);
            }
            // Two of an instant are by two that the example user follows, so both are to be seen.
            let author = match within {
                0 | 1 => 1 + (number / SAME_INSTANT + within) % FRIENDS,
                _ => random.index(USERS),
            };
            let text = format!("Thought number {number}");
            Tweet { id: Uuid::random(&mut random), author, text, at_micros }
        });
        let tweets = tweets.collect();
        Self { users, tweets }
    }

    /// Returns the users whose timelines show the tweets of a user: the user and all followers.
    pub(super) fn readers(&self, author: usize) -> Vec<&User> {
        let follows = |user: &User| user.friends.iter().any(|(friend, _)| *friend == author);
        let all = self.users.iter().enumerate();
        let readers = all.filter(|(number, user)| *number == author || follows(user));
        readers.map(|(_, user)| user).collect()
    }

    /// Returns the tweets on a user's timeline, newest first; those of one instant by their ids.
    pub(super) fn timeline(&self, reader: usize) -> Vec<&Tweet> {
        let Some(user) = self.users.get(reader) else { return Vec::new() };
        let shows = |author: usize| {
            author == reader || user.friends.iter().any(|(friend, _)| *friend == author)
        };
        let mut all: Vec<&Tweet> = self.tweets.iter().filter(|own| shows(own.author)).collect();
        all.sort_by_key(|tweet| (std::cmp::Reverse(tweet.at_micros), tweet.id.to_string()));
        all
    }
}

fn user(number: usize, random: &mut SplitMix) -> User {
    let created_micros = STARTED_MICROS + random.below(10 * DAY_MICROS);
    let name = names::name(random).to_lowercase().replace(' ', "_");
    let name = format!("{name}_{number}");
    User { id: Uuid::random(random), name, created_micros, friends: Vec::new() }
}

fn befriend(users: &mut [User], random: &mut SplitMix) {
    let mut at_micros = STARTED_MICROS + 11 * DAY_MICROS;
    for round in 0..FRIENDS {
        for (number, user) in users.iter_mut().enumerate() {
            at_micros += 1 + random.below(1_000_000_000);
            // The example user follows the first others, everybody else whom they like.
            let friend = match (number, round) {
                (0, round) => round + 1,
                _ => random.index(USERS),
            };
            let known = user.friends.iter().any(|(own, _)| *own == friend);
            if friend != number && !known {
                user.friends.push((friend, at_micros));
            }
        }
    }
}
