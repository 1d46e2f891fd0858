//! Messages to and from stores, with the fields that are used here.
//!
//! They are those of the stores' public interface (packages `kvrpcpb`, `metapb`). What it is not: all of
//! it; scans, reads at a timestamp and what a reader does about locks are the client library's.

use bytes::Bytes;
use prost::Message;

use crate::placement::{PeerMeta, RegionEpoch};

/// Writes the value.
pub(crate) const OP_PUT: i32 = 0;
/// Deletes the key.
pub(crate) const OP_DELETE: i32 = 1;
/// Locks the key and changes nothing.
pub(crate) const OP_LOCK: i32 = 2;
/// Writes the value of a key that must be absent.
pub(crate) const OP_INSERT: i32 = 4;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Context {
    #[prost(uint64, tag = "1")]
    pub(crate) region_id: u64,
    #[prost(message, optional, tag = "2")]
    pub(crate) region_epoch: Option<RegionEpoch>,
    #[prost(message, optional, tag = "3")]
    pub(crate) peer: Option<PeerMeta>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GetRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) context: Option<Context>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) key: Vec<u8>,
    #[prost(uint64, tag = "3")]
    pub(crate) version: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct GetResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) region_error: Option<RegionError>,
    #[prost(message, optional, tag = "2")]
    pub(crate) error: Option<KeyError>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) value: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Mutation {
    #[prost(int32, tag = "1")]
    pub(crate) op: i32,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) key: Vec<u8>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(crate) value: Bytes,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PrewriteRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) context: Option<Context>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) mutations: Vec<Mutation>,
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) primary_lock: Vec<u8>,
    #[prost(uint64, tag = "4")]
    pub(crate) start_version: u64,
    /// In milliseconds from the start of the transaction.
    #[prost(uint64, tag = "5")]
    pub(crate) lock_ttl: u64,
    /// The keys of the transaction; resolvers of locks look at a whole region where they are many.
    #[prost(uint64, tag = "8")]
    pub(crate) txn_size: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PrewriteResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) region_error: Option<RegionError>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) errors: Vec<KeyError>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CommitRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) context: Option<Context>,
    #[prost(uint64, tag = "2")]
    pub(crate) start_version: u64,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) keys: Vec<Vec<u8>>,
    #[prost(uint64, tag = "4")]
    pub(crate) commit_version: u64,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RollbackRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) context: Option<Context>,
    #[prost(uint64, tag = "2")]
    pub(crate) start_version: u64,
    #[prost(bytes = "vec", repeated, tag = "3")]
    pub(crate) keys: Vec<Vec<u8>>,
}

/// The answer to a commit and to a rollback.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct EndResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) region_error: Option<RegionError>,
    #[prost(message, optional, tag = "2")]
    pub(crate) error: Option<KeyError>,
}

/// A refusal because the region is not here, or not now; nothing was done.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionError {
    #[prost(string, tag = "1")]
    pub(crate) message: String,
    #[prost(message, optional, tag = "6")]
    pub(crate) server_is_busy: Option<Something>,
}

/// A refusal because of one key.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct KeyError {
    #[prost(message, optional, tag = "1")]
    pub(crate) locked: Option<LockInfo>,
    #[prost(string, tag = "2")]
    pub(crate) retryable: String,
    #[prost(string, tag = "3")]
    pub(crate) abort: String,
    #[prost(message, optional, tag = "4")]
    pub(crate) conflict: Option<Conflict>,
    #[prost(message, optional, tag = "5")]
    pub(crate) already_exist: Option<KeyOnly>,
    #[prost(message, optional, tag = "7")]
    pub(crate) commit_ts_expired: Option<Something>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct LockInfo {
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) key: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Conflict {
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) key: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct KeyOnly {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) key: Vec<u8>,
}

/// A part of which it matters only that it is there.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Something {}
