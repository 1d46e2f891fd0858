//! Waits for memory in the budget on behalf of HTTP, and keeps answers accounted for until they are
//! sent.

use std::sync::Arc;

use bytes::Bytes;
use shelfmark_engine::budget::{Client, NoRoom, Room, SHARE_FREE_BYTES, Share};

use crate::limits::{MEMORY_POLL_PERIOD, MEMORY_TIME_MAX};

/// Waits until `share` covers `bytes`, for at most [`MEMORY_TIME_MAX`]; returns `false` if it never
/// did.
pub(crate) async fn wait_for(share: &mut Share, bytes: usize) -> bool {
    let looks = MEMORY_TIME_MAX.as_millis() / MEMORY_POLL_PERIOD.as_millis();
    for _ in 0..looks {
        if share.cover(bytes) {
            return true;
        }
        tokio::time::sleep(MEMORY_POLL_PERIOD).await;
    }
    share.cover(bytes)
}

/// Bytes that stay accounted for until the last reference to them is gone.
struct Held<H> {
    bytes: Bytes,
    _holder: H,
}

impl<H> AsRef<[u8]> for Held<H> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Accounts for an answer until it is sent: by the room that its request had, if that suffices.
///
/// # Errors
///
/// * The reason why there is no memory for it.
pub(crate) async fn held_within(
    client: &Client,
    bytes: Bytes,
    room: Option<Arc<Room>>,
) -> Result<Bytes, NoRoom> {
    let length = bytes.len();
    if length <= SHARE_FREE_BYTES {
        return Ok(bytes);
    }
    if let Some(room) = room.filter(|room| room.set(length).is_ok()) {
        return Ok(Bytes::from_owner(Held { bytes, _holder: room }));
    }
    held(client, bytes).await.ok_or_else(|| client.no_room(length))
}

/// Accounts for `bytes` on behalf of a client until they are sent; `None` if there is no memory for
/// them.
pub(crate) async fn held(client: &Client, bytes: Bytes) -> Option<Bytes> {
    let mut share = client.share();
    if !wait_for(&mut share, bytes.len()).await {
        return None;
    }
    if share.taken() == 0 {
        return Some(bytes);
    }
    Some(Bytes::from_owner(Held { bytes, _holder: share }))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;

    use shelfmark_engine::budget::Budget;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_holds_its_room_until_it_is_gone() {
        let budget = Arc::new(Budget::new(1024 * 1024));
        let client = budget.client(Ipv4Addr::LOCALHOST.into(), true);
        let large = Bytes::from(vec![7; 300_000]);
        let answer = held(&client, large.clone()).await.unwrap();
        assert_eq!(answer, large);
        let rest = answer.slice(299_999..);
        drop(answer);
        assert!(budget.taken() > 280_000);
        assert!(held(&client, large.clone()).await.is_none(), "a connection has half of it");
        drop(rest);
        assert_eq!(budget.taken(), 0);
        assert!(held(&client, large).await.is_some());
    }
}
