//! Generates users and followers from a seed.

use shelfmark_store::random::SplitMix;

use crate::tour::names;
use crate::tour::uuid::Uuid;

/// Followers of the example user.
const FOLLOWERS: usize = 2_000;
/// Number of other users, each with some followers.
const OTHER_USERS: usize = 100;
const OTHER_FOLLOWERS: usize = 15;
/// One follower in so many comes in the same millisecond as the one before.
const SAME_INSTANT: usize = 10;
/// 2023-11-14, in milliseconds since the Unix epoch.
const STARTED_MS: i64 = 1_700_000_000_000;
const BETWEEN_MS: i64 = 60_000;

/// One user follows another since a time.
pub(super) struct Follow {
    pub(super) user: Uuid,
    pub(super) follower: Uuid,
    pub(super) name: String,
    pub(super) at_ms: i64,
}

/// The generated data.
pub(super) struct Follows {
    /// The example user of the questions.
    pub(super) user: Uuid,
    /// The followers of that user, oldest first.
    pub(super) own: Vec<Follow>,
    /// The followers of others.
    pub(super) others: Vec<Follow>,
}

impl Follows {
    /// Generates the data of a seed.
    pub(super) fn generate(seed: u64) -> Self {
        let mut random = SplitMix::new(seed);
        let user = Uuid::random(&mut random);
        let own = of_user(user, FOLLOWERS, &mut random);
        let others = (0..OTHER_USERS).flat_map(|_| {
            let other = Uuid::random(&mut random);
            of_user(other, OTHER_FOLLOWERS, &mut random)
        });
        let others = others.collect();
        Self { user, own, others }
    }

    /// Returns the followers of the example user, newest first; those of one instant by their ids,
    /// the greatest first.
    pub(super) fn newest_first(&self) -> Vec<&Follow> {
        let mut all: Vec<&Follow> = self.own.iter().collect();
        all.sort_by_key(|follow| std::cmp::Reverse((follow.at_ms, follow.follower)));
        all
    }

    /// Returns the pairs that came in one instant, the greater id first.
    pub(super) fn pairs(&self) -> Vec<(&Follow, &Follow)> {
        let all = self.newest_first();
        let next = all.iter().skip(1);
        let pairs = all.iter().zip(next).map(|(a, b)| (*a, *b));
        pairs.filter(|(a, b)| a.at_ms == b.at_ms).collect()
    }
}

fn of_user(user: Uuid, count: usize, random: &mut SplitMix) -> Vec<Follow> {
    let mut at_ms = STARTED_MS;
    (0..count)
        .map(|number| {
            if number % SAME_INSTANT != 1 {
                at_ms += BETWEEN_MS;
            }
            let (follower, name) = (Uuid::random(random), names::name(random));
            Follow { user, follower, name, at_ms }
        })
        .collect()
}
