//! Consistency levels.

/// A consistency level. A single store satisfies every one.
///
/// Source: native protocol specification v5, section 3, read 2026-11; `NodeLocal`: Cassandra 5.0,
/// `ConsistencyLevel`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u16)]
#[allow(missing_docs, reason = "the protocol's own names")]
pub enum Consistency {
    Any = 0,
    #[default]
    One = 1,
    Two = 2,
    Three = 3,
    Quorum = 4,
    All = 5,
    LocalQuorum = 6,
    EachQuorum = 7,
    Serial = 8,
    LocalSerial = 9,
    LocalOne = 10,
    /// Cassandra's own, for debugging; refused wherever it is not asked for at the start.
    NodeLocal = 11,
}

impl Consistency {
    /// Returns the level of this number.
    #[must_use]
    pub const fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            0 => Self::Any,
            1 => Self::One,
            2 => Self::Two,
            3 => Self::Three,
            4 => Self::Quorum,
            5 => Self::All,
            6 => Self::LocalQuorum,
            7 => Self::EachQuorum,
            8 => Self::Serial,
            9 => Self::LocalSerial,
            10 => Self::LocalOne,
            11 => Self::NodeLocal,
            _ => return None,
        })
    }

    /// Returns its name, as messages have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Any => "ANY",
            Self::One => "ONE",
            Self::Two => "TWO",
            Self::Three => "THREE",
            Self::Quorum => "QUORUM",
            Self::All => "ALL",
            Self::LocalQuorum => "LOCAL_QUORUM",
            Self::EachQuorum => "EACH_QUORUM",
            Self::Serial => "SERIAL",
            Self::LocalSerial => "LOCAL_SERIAL",
            Self::LocalOne => "LOCAL_ONE",
            Self::NodeLocal => "NODE_LOCAL",
        }
    }
}
