use bytes::Bytes;

use super::ShardGrowth;
use super::rooms::Space;

fn item(shard: u64) -> ShardGrowth {
    grown(shard, 1, 10)
}

fn grown(shard: u64, items: u64, bytes: u64) -> ShardGrowth {
    ShardGrowth { shard, items, bytes }
}

fn space(items: u64, bytes: u64) -> Space {
    Space { items, bytes }
}

#[test]
fn room_is_never_more_than_there_is() {
    let rooms = super::Rooms::default();
    let partition = Bytes::from_static(b"p");
    assert!(rooms.committed(&partition, item(0)), "what is unknown is looked at");
    let look = rooms.look(&partition, 0);
    // Two items are committed while the look reads a snapshot that may be from before them.
    rooms.committed(&partition, item(0));
    rooms.committed(&partition, item(0));
    rooms.found(&partition, 0, look, space(3, 1_000));
    assert!(!rooms.committed(&partition, item(0)), "one is left");
    assert!(rooms.committed(&partition, item(0)), "none is left");
    assert!(rooms.committed(&partition, item(1)), "another shard is another room");
}

#[test]
fn room_for_bytes_is_room_of_its_own() {
    let rooms = super::Rooms::default();
    let partition = Bytes::from_static(b"p");
    let look = rooms.look(&partition, 0);
    rooms.committed(&partition, grown(0, 1, 40));
    rooms.found(&partition, 0, look, space(u64::MAX, 100));
    assert!(!rooms.committed(&partition, grown(0, 0, 60)), "an item that grows takes room, too");
    assert!(!rooms.committed(&partition, grown(0, 5, 0)), "items without bytes take none");
    assert!(rooms.committed(&partition, grown(0, 0, 1)), "none is left");
    // One item that is too large alone may grow without a look, and a second one is looked at.
    let look = rooms.look(&partition, 0);
    rooms.found(&partition, 0, look, space(0, u64::MAX));
    assert!(!rooms.committed(&partition, grown(0, 0, 1 << 40)));
    assert!(rooms.committed(&partition, grown(0, 1, 1)));
}

#[test]
fn what_is_planned_waits_one_call_for_its_commit() {
    let rooms = super::Rooms::default();
    let partition = Bytes::from_static(b"p");
    rooms.planned(&partition, &[], item(0));
    assert!(rooms.take_due().is_empty());
    assert_eq!(rooms.take_due().len(), 1);
    let look = rooms.look(&partition, 0);
    rooms.found(&partition, 0, look, space(1, 100));
    rooms.planned(&partition, &[], item(0));
    rooms.take_due();
    assert!(rooms.take_due().is_empty(), "there was room");
    rooms.planned(&partition, &[], item(0));
    rooms.take_due();
    assert_eq!(rooms.take_due().len(), 1);
}
