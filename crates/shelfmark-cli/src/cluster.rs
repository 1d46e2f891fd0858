//! Opens stores on clusters, for commands that take `tikv://…`.

use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "tikv")]
use anyhow::Context as _;
use anyhow::bail;
use shelfmark_engine::Engine;
use shelfmark_store::Store;
use shelfmark_store::clock::{Clock, SystemClock};

use crate::arguments::EngineTls;
use crate::store::engine;

/// Certificates for connections to a cluster, as files.
#[cfg_attr(not(feature = "tikv"), expect(dead_code, reason = "nothing connects to a cluster"))]
pub(crate) struct ClusterTls {
    pub(crate) authority: PathBuf,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl ClusterTls {
    /// Returns the files of authority, certificate and key, if they were named.
    pub(crate) fn of(
        files: (&Option<PathBuf>, &Option<PathBuf>, &Option<PathBuf>),
    ) -> anyhow::Result<Option<Self>> {
        match files {
            (None, None, None) => Ok(None),
            (Some(authority), Some(certificate), Some(key)) => Ok(Some(Self {
                authority: authority.clone(),
                certificate: certificate.clone(),
                key: key.clone(),
            })),
            _ => {
                bail!("--engine-tls-ca, --engine-tls-certificate and --engine-tls-key go together")
            }
        }
    }
}

impl EngineTls {
    /// Returns the files that the flags name, if they do.
    pub(crate) fn files(&self) -> anyhow::Result<Option<ClusterTls>> {
        let Self { engine_tls_ca, engine_tls_certificate, engine_tls_key } = self;
        ClusterTls::of((engine_tls_ca, engine_tls_certificate, engine_tls_key))
    }
}

/// Opens the engine on the cluster that `address` names: `tikv://HOST:PORT,HOST:PORT/SPACE`.
pub(crate) fn cluster(address: &str, tls: Option<&ClusterTls>) -> anyhow::Result<Engine> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    engine(cluster_store(address, tls, &clock)?, clock)
}

/// Opens the store on a cluster, without an engine.
#[cfg(feature = "tikv")]
pub(crate) fn cluster_store(
    address: &str,
    tls: Option<&ClusterTls>,
    clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn Store>> {
    let store = shelfmark_tikv::TikvStore::open(cluster_options(address, tls)?, Arc::clone(clock))
        .with_context(|| format!("cannot open the store on {address}"))?;
    tracing::info!("the store on {address} is open");
    Ok(Arc::new(store))
}

/// Returns the options of a store on a cluster.
#[cfg(feature = "tikv")]
pub(crate) fn cluster_options(
    address: &str,
    tls: Option<&ClusterTls>,
) -> anyhow::Result<shelfmark_tikv::Options> {
    let (placement, space) = cluster_address(address)?;
    let mut options = shelfmark_tikv::Options::new(placement);
    options.space = space;
    options.tls = tls.map(|files| shelfmark_tikv::Tls {
        authority: files.authority.clone(),
        certificate: files.certificate.clone(),
        key: files.key.clone(),
    });
    Ok(options)
}

/// Says that this build knows no cluster.
#[cfg(not(feature = "tikv"))]
pub(crate) fn cluster_store(
    _address: &str,
    _tls: Option<&ClusterTls>,
    _clock: &Arc<dyn Clock>,
) -> anyhow::Result<Arc<dyn Store>> {
    bail!("this build has no driver for TiKV; build it with the feature `tikv`")
}

/// Returns the placement drivers and the space of an address.
#[cfg(feature = "tikv")]
fn cluster_address(address: &str) -> anyhow::Result<(Vec<String>, String)> {
    let Some(rest) = address.strip_prefix("tikv://") else {
        bail!("--engine is tikv://HOST:PORT,…[/SPACE] with the cluster's placement drivers");
    };
    let (places, space) = rest.split_once('/').unwrap_or((rest, ""));
    let places: Vec<String> = places.split(',').map(str::to_owned).collect();
    if places
        .iter()
        .any(|place| place.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()))
    {
        bail!("--engine {address}: each placement driver is HOST:PORT; its usual port is 2379");
    }
    Ok((places, space.to_owned()))
}
