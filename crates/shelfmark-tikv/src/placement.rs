//! Calls to the placement driver that the client library keeps to itself.
//!
//! They list the regions of a range, find a store, and hold a safe point of collection for this service. The
//! messages are those of the placement driver's public interface (package `pdpb`), with the fields
//! that are used here. What it is not: timestamps and leaders, which the library asks for.
//!
//! Invariant: an answer names its cluster, and one of another cluster is refused.

use std::time::Duration;

use bytes::Bytes;
use prost::Message;
use shelfmark_store::{Error, ErrorKind, Result};
use tokio::sync::Mutex;
use tonic::client::Grpc;
use tonic::codec::ProstCodec;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::keys;
use crate::options::{Options, Tls};

/// The longest time of one call.
const CALL_MAX: Duration = Duration::from_secs(2);

/// The placement drivers of a cluster.
pub(crate) struct Placement {
    addresses: Vec<String>,
    tls: Option<Tls>,
    leader: Mutex<Option<Leader>>,
}

#[derive(Clone)]
struct Leader {
    cluster: u64,
    channel: Channel,
}

/// A region: a stretch of the cluster's keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) start: Vec<u8>,
    /// Empty: to the end.
    pub(crate) end: Vec<u8>,
    /// The way to its leader, where one is known.
    pub(crate) route: Option<Route>,
}

/// The way to the leader of a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) region: u64,
    pub(crate) epoch: RegionEpoch,
    pub(crate) peer: PeerMeta,
}

impl Placement {
    pub(crate) fn new(options: &Options) -> Self {
        let (addresses, tls) = (options.placement.clone(), options.tls.clone());
        Self { addresses, tls, leader: Mutex::new(None) }
    }

    /// Returns the regions between `start` and `end` (empty: to the end), in order, `limit` at most.
    pub(crate) async fn regions(
        &self,
        start: &[u8],
        end: &[u8],
        limit: i32,
    ) -> Result<Vec<Region>> {
        let request = |cluster| ScanRegionsRequest {
            header: Some(RequestHeader { cluster_id: cluster }),
            start_key: keys::encoded(start),
            limit,
            end_key: if end.is_empty() { Vec::new() } else { keys::encoded(end) },
        };
        let answer: ScanRegionsResponse = self.ask("/pdpb.PD/ScanRegions", request).await?;
        let found = answer.regions.into_iter();
        let found = found.filter_map(|found| Some((found.region?, found.leader)));
        Ok(found
            .map(|(meta, leader)| Region {
                start: keys::decoded(&meta.start_key),
                end: keys::decoded(&meta.end_key),
                route: leader.zip(meta.region_epoch).map(|(peer, epoch)| Route {
                    region: meta.id,
                    epoch,
                    peer,
                }),
            })
            .collect())
    }

    /// Returns a connection to the store with this id.
    pub(crate) async fn store(&self, id: u64) -> Result<Channel> {
        let request = |cluster| GetStoreRequest {
            header: Some(RequestHeader { cluster_id: cluster }),
            store_id: id,
        };
        let answer: GetStoreResponse = self.ask("/pdpb.PD/GetStore", request).await?;
        let address = answer.store.map(|store| store.address).unwrap_or_default();
        self.connect(&address).await
    }

    /// Holds collection back to `safe_point` for `service` and `ttl`, and returns the least point
    /// that any service holds.
    pub(crate) async fn hold(&self, service: &str, safe_point: u64, ttl: Duration) -> Result<u64> {
        let request = |cluster| UpdateServiceGcSafePointRequest {
            header: Some(RequestHeader { cluster_id: cluster }),
            service_id: service.as_bytes().to_vec(),
            ttl: i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX),
            safe_point,
        };
        let answer: UpdateServiceGcSafePointResponse =
            self.ask("/pdpb.PD/UpdateServiceGCSafePoint", request).await?;
        Ok(answer.min_safe_point)
    }

    /// Calls the leader, and once more a new one if the last leader is none any more.
    async fn ask<Q, A>(&self, path: &'static str, request: impl Fn(u64) -> Q) -> Result<A>
    where
        Q: Message + Send + Sync + 'static,
        A: Message + Default + Headed + Send + Sync + 'static,
    {
        let mut last = None;
        for _ in 0..2 {
            let leader = self.leader().await?;
            match call::<Q, A>(leader.channel, path, request(leader.cluster)).await {
                Ok(answer) if answer.is_right() => return Ok(answer),
                Ok(_) => last = Some(unavailable("a placement driver refuses", "not the leader")),
                Err(error) => last = Some(error),
            }
            *self.leader.lock().await = None;
        }
        Err(last.unwrap_or_else(|| unavailable("a placement driver refuses", "")))
    }

    async fn leader(&self) -> Result<Leader> {
        let mut known = self.leader.lock().await;
        if let Some(leader) = &*known {
            return Ok(leader.clone());
        }
        let mut last = unavailable("no placement driver is named", "");
        for address in &self.addresses {
            match self.find_leader(address).await {
                Ok(leader) => {
                    *known = Some(leader.clone());
                    return Ok(leader);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    async fn find_leader(&self, address: &str) -> Result<Leader> {
        let channel = self.connect(address).await?;
        let asked = GetMembersRequest { header: None };
        let members: GetMembersResponse = call(channel, "/pdpb.PD/GetMembers", asked).await?;
        let cluster = members.header.map_or(0, |header| header.cluster_id);
        let urls = members.leader.map(|leader| leader.client_urls).unwrap_or_default();
        let url = urls.first().ok_or_else(|| unavailable(address, "there is no leader"))?;
        let place = url.split_once("://").map_or(url.as_str(), |(_, place)| place);
        Ok(Leader { cluster, channel: self.connect(place).await? })
    }

    async fn connect(&self, address: &str) -> Result<Channel> {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let refused = |error: tonic::transport::Error| unavailable(address, &error.to_string());
        let mut endpoint = Endpoint::from_shared(format!("{scheme}://{address}"))
            .map_err(|error| unavailable(address, &error.to_string()))?
            .connect_timeout(CALL_MAX)
            .timeout(CALL_MAX);
        if let Some(tls) = &self.tls {
            endpoint = endpoint.tls_config(certificates(tls)?).map_err(refused)?;
        }
        endpoint.connect().await.map_err(refused)
    }
}

fn certificates(tls: &Tls) -> Result<ClientTlsConfig> {
    #[expect(
        clippy::disallowed_methods,
        reason = "certificates of the operator, no data of a store"
    )]
    let read = |path: &std::path::Path| {
        std::fs::read(path).map_err(|error| {
            let message = format!("{} cannot be read", path.display());
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })
    };
    Ok(ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(read(&tls.authority)?))
        .identity(Identity::from_pem(read(&tls.certificate)?, read(&tls.key)?)))
}

/// Calls a method of a service of the cluster.
///
/// # Errors
///
/// * [`ErrorKind::Unavailable`]: it was not answered.
pub(crate) async fn call<Q, A>(channel: Channel, path: &'static str, request: Q) -> Result<A>
where
    Q: Message + Send + Sync + 'static,
    A: Message + Default + Send + Sync + 'static,
{
    let mut grpc = Grpc::new(channel);
    grpc.ready().await.map_err(|error| unavailable(path, &error.to_string()))?;
    let codec: ProstCodec<Q, A> = ProstCodec::default();
    let answer =
        grpc.unary(tonic::Request::new(request), PathAndQuery::from_static(path), codec).await;
    answer.map(tonic::Response::into_inner).map_err(|status| unavailable(path, status.message()))
}

fn unavailable(what: &str, why: &str) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{what}: {why}"))
}

/// An answer whose header tells whether it is one.
trait Headed {
    fn is_right(&self) -> bool;
}

#[derive(Clone, PartialEq, Message)]
struct RequestHeader {
    #[prost(uint64, tag = "1")]
    cluster_id: u64,
}

#[derive(Clone, PartialEq, Message)]
struct ResponseHeader {
    #[prost(uint64, tag = "1")]
    cluster_id: u64,
    #[prost(message, optional, tag = "2")]
    error: Option<HeaderError>,
}

#[derive(Clone, PartialEq, Message)]
struct HeaderError {
    #[prost(string, tag = "2")]
    message: String,
}

#[derive(Clone, PartialEq, Message)]
struct GetMembersRequest {
    #[prost(message, optional, tag = "1")]
    header: Option<RequestHeader>,
}

#[derive(Clone, PartialEq, Message)]
struct GetMembersResponse {
    #[prost(message, optional, tag = "1")]
    header: Option<ResponseHeader>,
    #[prost(message, optional, tag = "3")]
    leader: Option<Member>,
}

#[derive(Clone, PartialEq, Message)]
struct Member {
    #[prost(string, repeated, tag = "4")]
    client_urls: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct ScanRegionsRequest {
    #[prost(message, optional, tag = "1")]
    header: Option<RequestHeader>,
    #[prost(bytes = "vec", tag = "2")]
    start_key: Vec<u8>,
    #[prost(int32, tag = "3")]
    limit: i32,
    #[prost(bytes = "vec", tag = "4")]
    end_key: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct ScanRegionsResponse {
    #[prost(message, optional, tag = "1")]
    header: Option<ResponseHeader>,
    #[prost(message, repeated, tag = "4")]
    regions: Vec<FoundRegion>,
}

impl Headed for ScanRegionsResponse {
    fn is_right(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.error.is_none())
    }
}

#[derive(Clone, PartialEq, Message)]
struct FoundRegion {
    #[prost(message, optional, tag = "1")]
    region: Option<RegionMeta>,
    #[prost(message, optional, tag = "2")]
    leader: Option<PeerMeta>,
}

#[derive(Clone, PartialEq, Message)]
struct RegionMeta {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(bytes = "bytes", tag = "2")]
    start_key: Bytes,
    #[prost(bytes = "bytes", tag = "3")]
    end_key: Bytes,
    #[prost(message, optional, tag = "4")]
    region_epoch: Option<RegionEpoch>,
}

/// The form of a region: it rises with splits and with changes of its replicas.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct RegionEpoch {
    #[prost(uint64, tag = "1")]
    conf_ver: u64,
    #[prost(uint64, tag = "2")]
    version: u64,
}

/// A replica of a region.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct PeerMeta {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(uint64, tag = "2")]
    pub(crate) store_id: u64,
    #[prost(int32, tag = "3")]
    role: i32,
}

#[derive(Clone, PartialEq, Message)]
struct GetStoreRequest {
    #[prost(message, optional, tag = "1")]
    header: Option<RequestHeader>,
    #[prost(uint64, tag = "2")]
    store_id: u64,
}

#[derive(Clone, PartialEq, Message)]
struct GetStoreResponse {
    #[prost(message, optional, tag = "1")]
    header: Option<ResponseHeader>,
    #[prost(message, optional, tag = "2")]
    store: Option<StoreMeta>,
}

impl Headed for GetStoreResponse {
    fn is_right(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.error.is_none())
    }
}

#[derive(Clone, PartialEq, Message)]
struct StoreMeta {
    #[prost(string, tag = "2")]
    address: String,
}

#[derive(Clone, PartialEq, Message)]
struct UpdateServiceGcSafePointRequest {
    #[prost(message, optional, tag = "1")]
    header: Option<RequestHeader>,
    #[prost(bytes = "vec", tag = "2")]
    service_id: Vec<u8>,
    #[prost(int64, tag = "3")]
    ttl: i64,
    #[prost(uint64, tag = "4")]
    safe_point: u64,
}

#[derive(Clone, PartialEq, Message)]
struct UpdateServiceGcSafePointResponse {
    #[prost(message, optional, tag = "1")]
    header: Option<ResponseHeader>,
    #[prost(uint64, tag = "4")]
    min_safe_point: u64,
}

impl Headed for UpdateServiceGcSafePointResponse {
    fn is_right(&self) -> bool {
        self.header.as_ref().is_some_and(|header| header.error.is_none())
    }
}
