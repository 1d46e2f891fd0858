//! The keys of a store on the cluster: one prefix before each, and the cluster's own encoding.
//!
//! A cluster is shared, so everything of ours begins with the byte `x`, then the name of the space
//! and a zero byte that ends it; the first byte after `x` stays unused, because stores keep notes of
//! their own there. What it is not: the keys' meaning.
//!
//! Invariant: the prefix keeps the order of keys, and no key of one space or kind lies in another's
//! range.

use bytes::Bytes;
use shelfmark_store::KeyRange;

/// The byte before every key.
const OURS: u8 = b'x';
/// Behind the space: the keys of the contract.
const DATA: u8 = 1;
/// Behind the space: what the driver keeps for itself.
const OWN: u8 = 0;
/// Behind the space: the slots of spread counters.
const SLOTS: u8 = DATA + 1;
/// In place of a slot's number: the key of the counter.
const OWNER: u8 = u8::MAX;

/// Slots of a spread counter: so many commits add to it at once.
pub(crate) const SLOTS_MAX: u8 = 64;

/// The set of slots of one counter: the timestamp at which it was spread, and a number among those
/// that the same commit spread. Never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Spread {
    pub(crate) at: u64,
    pub(crate) number: u32,
}

/// Returns the first key and the end, excluded, of all spaces whose names begin with `prefix`.
pub(crate) fn spaces(prefix: &str) -> (Vec<u8>, Vec<u8>) {
    let start = [&[OURS], prefix.as_bytes()].concat();
    let end = [&start[..], &[u8::MAX]].concat();
    (start, end)
}

/// Returns the name of the space that a key of the cluster lies in, if it lies in one.
pub(crate) fn space_of(key: &[u8]) -> Option<&str> {
    let rest = key.strip_prefix(&[OURS])?;
    let name = rest.get(..rest.iter().position(|byte| *byte == 0)?)?;
    std::str::from_utf8(name).ok()
}

/// Bytes of a group in the cluster's encoding of region bounds.
const GROUP: usize = 8;
/// The marker of a full group; a shorter one has less by its padding.
const FULL: u8 = 0xFF;

/// The prefix of one space.
#[derive(Debug, Clone)]
pub(crate) struct Keys {
    prefix: Vec<u8>,
}

impl Keys {
    pub(crate) fn new(space: &str) -> Self {
        let mut prefix = vec![OURS];
        prefix.extend_from_slice(space.as_bytes());
        prefix.extend([0, DATA]);
        Self { prefix }
    }

    /// Returns the cluster's key for a key of the contract.
    pub(crate) fn outer(&self, key: &[u8]) -> Vec<u8> {
        [&self.prefix, key].concat()
    }

    /// Returns the contract's key for one of the cluster's; `None` if it lies outside.
    pub(crate) fn inner(&self, key: &[u8]) -> Option<Bytes> {
        key.strip_prefix(&*self.prefix).map(Bytes::copy_from_slice)
    }

    /// Returns the first key and the end, excluded, of a range of the contract.
    pub(crate) fn outer_range(&self, range: &KeyRange) -> (Vec<u8>, Vec<u8>) {
        let end = match &range.end {
            Some(end) => self.outer(end),
            None => self.end(),
        };
        (self.outer(&range.start), end)
    }

    /// Returns the first key and the end, excluded, of everything in the space, whoever it is of.
    pub(crate) fn whole(&self) -> (Vec<u8>, Vec<u8>) {
        let start = self.of_kind(OWN);
        let mut end = start.clone();
        // The name of no other space goes on with so low a byte.
        end.pop();
        if let Some(behind_name) = end.last_mut() {
            *behind_name = 1;
        }
        (start, end)
    }

    /// Returns a key of the driver itself.
    pub(crate) fn own(&self, name: &str) -> Vec<u8> {
        let mut key = self.of_kind(OWN);
        key.extend_from_slice(name.as_bytes());
        key
    }

    /// Returns the key of a slot of a spread counter.
    pub(crate) fn slot(&self, spread: Spread, slot: u8) -> Vec<u8> {
        let mut key = self.slots_of(spread);
        key.push(slot);
        key
    }

    /// Returns the key that has the name of a spread counter.
    pub(crate) fn owner(&self, spread: Spread) -> Vec<u8> {
        self.slot(spread, OWNER)
    }

    /// Returns the first key and the end, excluded, of the slots of a counter.
    pub(crate) fn slots(&self, spread: Spread) -> (Vec<u8>, Vec<u8>) {
        (self.slots_of(spread), self.owner(spread))
    }

    /// Returns the keys of all slots of a counter, and where `with_owner` the one with its name.
    pub(crate) fn all_of(
        &self,
        spread: Spread,
        with_owner: bool,
    ) -> impl Iterator<Item = Vec<u8>> + '_ {
        let numbers = (0..SLOTS_MAX).chain(with_owner.then_some(OWNER));
        numbers.map(move |slot| self.slot(spread, slot))
    }

    /// Returns the first key and the end, excluded, of all slots.
    pub(crate) fn all_slots(&self) -> (Vec<u8>, Vec<u8>) {
        (self.of_kind(SLOTS), self.of_kind(SLOTS + 1))
    }

    /// Returns whose slot a key of the cluster is, and the slot's number; none for the key with the
    /// counter's name.
    pub(crate) fn slot_of(&self, key: &[u8]) -> Option<(Spread, Option<u8>)> {
        let rest = key.strip_prefix(&*self.of_kind(SLOTS))?;
        let (at, rest) = rest.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        let at = u64::from_be_bytes(*at).reverse_bits();
        let spread = Spread { at, number: u32::from_be_bytes(*number) };
        match rest {
            [OWNER] => Some((spread, None)),
            [slot] => Some((spread, Some(*slot))),
            _ => None,
        }
    }

    /// Timestamps rise; reversed, they do not all lie in one region.
    fn slots_of(&self, spread: Spread) -> Vec<u8> {
        let mut key = self.of_kind(SLOTS);
        key.extend(spread.at.reverse_bits().to_be_bytes());
        key.extend(spread.number.to_be_bytes());
        key
    }

    /// Returns the first key behind all keys of the contract.
    fn end(&self) -> Vec<u8> {
        self.of_kind(DATA + 1)
    }

    fn of_kind(&self, kind: u8) -> Vec<u8> {
        let mut prefix = self.prefix.clone();
        if let Some(last) = prefix.last_mut() {
            *last = kind;
        }
        prefix
    }
}

/// Encodes a key as the bounds of regions are written: groups of eight bytes with a marker each.
pub(crate) fn encoded(key: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity((key.len() / GROUP + 1) * (GROUP + 1));
    let mut groups = key.chunks_exact(GROUP);
    for group in &mut groups {
        out.extend_from_slice(group);
        out.push(FULL);
    }
    let rest = groups.remainder();
    let padding = GROUP - rest.len();
    out.extend_from_slice(rest);
    out.extend(std::iter::repeat_n(0, padding));
    out.push(FULL - u8::try_from(padding).unwrap_or(0));
    out
}

/// Decodes a bound of a region. One that is cut short decodes to what is there: bounds are places,
/// not keys of rows.
pub(crate) fn decoded(bound: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(bound.len());
    for group in bound.chunks(GROUP + 1) {
        match group.split_last() {
            Some((marker, bytes)) if group.len() == GROUP + 1 => {
                let padding = usize::from(FULL - marker).min(GROUP);
                key.extend_from_slice(bytes.get(..GROUP - padding).unwrap_or_default());
                if padding > 0 {
                    break;
                }
            }
            _ => {
                key.extend_from_slice(group);
                break;
            }
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_keep_the_order_of_keys_and_come_back() {
        let mut keys: Vec<Vec<u8>> = vec![
            vec![],
            b"a".to_vec(),
            b"a\0".to_vec(),
            b"abcdefg".to_vec(),
            b"abcdefgh".to_vec(),
            b"abcdefgh\0".to_vec(),
            b"abcdefghi".to_vec(),
            vec![0xFF; 8],
            vec![0xFF; 17],
        ];
        keys.sort();
        let encodings: Vec<Vec<u8>> = keys.iter().map(|key| encoded(key)).collect();
        assert!(encodings.is_sorted());
        for (key, encoding) in keys.iter().zip(&encodings) {
            assert_eq!(&decoded(encoding), key);
        }
    }

    #[test]
    fn spaces_do_not_meet() {
        let (plain, other) = (Keys::new(""), Keys::new("a"));
        let (start, end) = plain.outer_range(&KeyRange::all());
        let spread = Spread { at: 1 << 40 | 7, number: 3 };
        for key in [
            other.outer(b""),
            other.outer(b"\xff"),
            plain.own("gc"),
            other.own("gc"),
            plain.slot(spread, 0),
            plain.owner(spread),
        ] {
            assert!(!(start <= key && key < end), "{key:?}");
        }
        let inside = plain.outer(b"\xff\xff");
        assert!(start <= inside && inside < end);
        assert_eq!(plain.inner(&inside).unwrap(), b"\xff\xff".as_slice());
        assert_eq!(plain.inner(&other.outer(b"k")), None);
    }

    #[test]
    fn the_whole_of_a_space_is_everything_of_it_and_nothing_else() {
        let spread = Spread { at: u64::MAX, number: u32::MAX };
        for name in ["", "a", "a-", "a0", "ab", "az"] {
            let keys = Keys::new(name);
            let own = [
                keys.own(""),
                keys.own("peer/"),
                keys.outer(b""),
                keys.outer(b"\xff\xff"),
                keys.owner(spread),
            ];
            for key in &own {
                assert_eq!(space_of(key), Some(name));
                for prefix in ["", "a", "ab"] {
                    let (start, end) = spaces(prefix);
                    let is_inside = start <= *key && *key < end;
                    assert_eq!(is_inside, name.starts_with(prefix), "{name} {prefix} {key:?}");
                }
            }
            for other in ["", "a", "a-", "a0", "ab", "az"] {
                let (start, end) = Keys::new(other).whole();
                for key in &own {
                    assert_eq!(
                        start <= *key && *key < end,
                        name == other,
                        "{name} {other} {key:?}"
                    );
                }
            }
        }
        assert_eq!(space_of(b"y\0"), None);
        assert_eq!(space_of(b"xa"), None);
    }

    #[test]
    fn slots_are_known_by_their_keys() {
        let keys = Keys::new("a");
        let spread = Spread { at: 450_000_000_000_000_001, number: 3 };
        assert_eq!(keys.slot_of(&keys.slot(spread, 63)), Some((spread, Some(63))));
        assert_eq!(keys.slot_of(&keys.owner(spread)), Some((spread, None)));
        let (start, end) = keys.slots(spread);
        let slot = keys.slot(spread, 63);
        assert!(start <= slot && slot < end && end <= keys.owner(spread));
        let (first, behind) = keys.all_slots();
        assert!(first <= start && end < behind);
        let other = keys.slot(Spread { number: 4, ..spread }, 0);
        assert!(!(start <= other && other < end));
        for key in [keys.outer(b"k"), keys.own("gc"), start, [&end[..], &[0]].concat()] {
            assert_eq!(keys.slot_of(&key), None, "{key:?}");
        }
    }
}
