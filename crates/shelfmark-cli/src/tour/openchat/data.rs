//! Generates the chats from a seed.

use shelfmark_keycode::{Overflow, UlidGenerator};
use shelfmark_store::random::SplitMix;

const USERS: usize = 200;
const CHATS: usize = 300;
const MESSAGES: usize = 30;
/// 2023-11-14, in milliseconds since the Unix epoch.
const STARTED_MS: u64 = 1_700_000_000_000;

/// The day before, when the chats were made.
const FOUNDED_MS: u64 = STARTED_MS - 86_400_000;

/// The example user of the questions.
pub(super) const EXAMPLE_USER: usize = 7;

/// One chat.
pub(super) struct Chat {
    pub(super) id: String,
    /// Numbers of the users in it, ascending.
    pub(super) members: Vec<usize>,
    /// Ids of the messages, oldest first.
    pub(super) messages: Vec<String>,
}

/// All chats.
pub(super) struct Chats {
    pub(super) chats: Vec<Chat>,
    pub(super) users: usize,
}

impl Chats {
    /// Generates the chats of a seed.
    pub(super) fn generate(seed: u64) -> anyhow::Result<Self> {
        let mut random = SplitMix::new(seed);
        let mut noise = SplitMix::new(!seed);
        let mut ulids = UlidGenerator::new(Overflow::CarryIntoTime);
        let mut chats = Vec::with_capacity(CHATS);
        let mut fill = |bytes: &mut [u8]| {
            for (byte, next) in bytes.iter_mut().zip(std::iter::repeat_with(|| noise.below(256))) {
                *byte = u8::try_from(next).unwrap_or(0);
            }
        };
        for number in 0..CHATS {
            let mut members: Vec<usize> =
                (0..2 + random.index(7)).map(|_| random.index(USERS)).collect();
            // The example user is in every tenth chat.
            members.extend((number % 10 == 0).then_some(EXAMPLE_USER));
            members.sort_unstable();
            members.dedup();
            let id = ulids.next(FOUNDED_MS + number as u64, &mut fill)?.to_string();
            chats.push(Chat { id, members, messages: Vec::new() });
        }
        for round in 0..MESSAGES as u64 {
            for (number, chat) in (0..).zip(&mut chats) {
                let at = STARTED_MS + round * 60_000 + number;
                chat.messages.push(ulids.next(at, &mut fill)?.to_string());
            }
        }
        Ok(Self { chats, users: USERS })
    }

    /// Returns the chats of a user, by id.
    pub(super) fn of_user(&self, user: usize) -> Vec<&Chat> {
        let mut chats: Vec<&Chat> =
            self.chats.iter().filter(|chat| chat.members.contains(&user)).collect();
        chats.sort_by(|a, b| a.id.cmp(&b.id));
        chats
    }
}
