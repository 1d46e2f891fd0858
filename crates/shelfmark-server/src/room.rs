//! Room in the memory budget for HTTP: waiting for it, and answers that hold it until they are sent.

use bytes::Bytes;
use shelfmark_engine::budget::{Client, Share};

use crate::limits::{ROOM_LOOK_PERIOD, ROOM_TIME_MAX};

/// Waits until `share` covers `bytes`, for at most [`ROOM_TIME_MAX`]. `false` if it never did.
pub(crate) async fn wait_for(share: &mut Share, bytes: usize) -> bool {
    let looks = ROOM_TIME_MAX.as_millis() / ROOM_LOOK_PERIOD.as_millis();
    for _ in 0..looks {
        if share.cover(bytes) {
            return true;
        }
        tokio::time::sleep(ROOM_LOOK_PERIOD).await;
    }
    share.cover(bytes)
}

/// Bytes that hold their room until the last that refers to them is gone.
struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns bytes that hold room of a client's until they were sent; `None` if there is none.
pub(crate) async fn held(client: &Client, bytes: Bytes) -> Option<Bytes> {
    let mut share = client.share();
    if !wait_for(&mut share, bytes.len()).await {
        return None;
    }
    if share.taken() == 0 {
        return Some(bytes);
    }
    Some(Bytes::from_owner(Held { bytes, _share: share }))
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
