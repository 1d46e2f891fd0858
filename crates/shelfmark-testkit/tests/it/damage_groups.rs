//! Where the groups of a log file stand, read as `docs/format.md` draws them.

/// Bytes of a log file's header.
pub(crate) const FILE_HEADER_BYTES: usize = 64;
/// Bytes of a group's header.
pub(crate) const GROUP_HEADER_BYTES: usize = 56;

/// A group of a log file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Group {
    /// Where it begins, in bytes.
    pub(crate) offset: u64,
    /// Its length with its header, in bytes.
    pub(crate) bytes: u64,
    /// Its number.
    pub(crate) number: u64,
    /// Number of its first commit.
    pub(crate) first_commit: u64,
    /// How many commits.
    pub(crate) commits: u64,
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Lists the groups of a whole log file; what is torn off its end is left out.
pub(crate) fn groups(file: &[u8]) -> Vec<Group> {
    let mut all = Vec::new();
    let mut at = FILE_HEADER_BYTES;
    while let Some(head) = file.get(at..at + GROUP_HEADER_BYTES)
        && head.starts_with(b"SGRP")
    {
        let bytes = GROUP_HEADER_BYTES as u64 + number(&head[4..8]);
        let next = at + usize::try_from(bytes).unwrap();
        if next > file.len() {
            break;
        }
        all.push(Group {
            offset: at as u64,
            bytes,
            number: number(&head[8..16]),
            first_commit: number(&head[16..24]),
            commits: number(&head[24..28]),
        });
        at = next;
    }
    all
}
