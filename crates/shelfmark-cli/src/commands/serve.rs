//! `shelfmark serve`: opens a store, serves its faces, and stops in good order.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};
use shelfmark_dynamo::{Face, FaceOptions};
use shelfmark_engine::{Engine, Upkeep};
use shelfmark_server::{Addresses, Server, Settings, check_exposed};
use shelfmark_store::embedded::Options;
use shelfmark_store::{Durability, vfs};

use crate::arguments::Serve;
use crate::store::{memory, open};

const DATA: &str = "./shelfmark-data";
const DYNAMODB_PORT: u16 = 8000;
const UPKEEP_PERIOD: Duration = Duration::from_secs(1);

/// The settings of a configuration file: the flags, with underscores.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    data: Option<PathBuf>,
    memory: Option<bool>,
    engine: Option<String>,
    dynamodb: Option<SocketAddr>,
    cql: Option<SocketAddr>,
    console: Option<SocketAddr>,
    ready_file: Option<PathBuf>,
    durability: Option<String>,
    insecure: Option<bool>,
}

/// What the ready file holds: a face that is off is absent.
#[derive(Debug, Serialize)]
struct Ready {
    #[serde(skip_serializing_if = "Option::is_none")]
    dynamodb: Option<String>,
}

pub(crate) fn run(flags: &Serve) -> anyhow::Result<()> {
    start_log();
    let config = merged(flags)?;
    let insecure = config.insecure.unwrap_or(false);
    let loopback = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), DYNAMODB_PORT);
    let dynamodb = config.dynamodb.unwrap_or(loopback);
    check_exposed(dynamodb, insecure)?;
    name_what_is_missing(&config);
    let engine = open_engine(&config)?;
    let served = serve(&engine, dynamodb, config.ready_file.as_deref());
    let closed = engine.store().close().context("the store could not be closed in good order");
    served.and(closed)
}

fn merged(flags: &Serve) -> anyhow::Result<Config> {
    let file = match &flags.config {
        None => Config::default(),
        Some(path) => {
            let text =
                vfs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            let text = String::from_utf8(text)
                .with_context(|| format!("{} is not UTF-8", path.display()))?;
            toml::from_str(&text)
                .with_context(|| format!("{} has a wrong setting", path.display()))?
        }
    };
    Ok(Config {
        data: flags.data.clone().or(file.data),
        memory: Some(flags.memory || file.memory.unwrap_or(false)),
        engine: flags.engine.clone().or(file.engine),
        dynamodb: flags.dynamodb.or(file.dynamodb),
        cql: flags.cql.or(file.cql),
        console: flags.console.or(file.console),
        ready_file: flags.ready_file.clone().or(file.ready_file),
        durability: flags.durability.clone().or(file.durability),
        insecure: Some(flags.insecure || file.insecure.unwrap_or(false)),
    })
}

fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("SHELFMARK_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

/// A face that is not in this build is left out, and that is said.
fn name_what_is_missing(config: &Config) {
    let asked = |address: Option<SocketAddr>| {
        address.map_or_else(String::new, |address| format!(" ({address})"))
    };
    anstream::eprintln!(
        "not in this build, left out: cql{}, console{}",
        asked(config.cql),
        asked(config.console)
    );
}

fn open_engine(config: &Config) -> anyhow::Result<Engine> {
    if let Some(url) = &config.engine {
        bail!("the remote engine {url} is not in this build; use --data DIR or --memory");
    }
    if config.memory == Some(true) {
        return memory();
    }
    let options =
        Options { durability: durability(config.durability.as_deref())?, ..Options::default() };
    open(config.data.as_deref().unwrap_or(Path::new(DATA)), options, true)
}

fn durability(text: Option<&str>) -> anyhow::Result<Durability> {
    match text.map(|text| text.split_once(':').unwrap_or((text, ""))) {
        None | Some(("sync", "")) => Ok(Durability::Sync),
        Some(("interval", ms)) => match ms.parse() {
            Ok(ms @ 1..=60_000) => Ok(Durability::Interval(Duration::from_millis(ms))),
            _ => bail!("--durability interval:MS takes 1 to 60000 milliseconds"),
        },
        Some(_) => bail!("--durability is sync or interval:MS"),
    }
}

fn serve(engine: &Engine, dynamodb: SocketAddr, ready_file: Option<&Path>) -> anyhow::Result<()> {
    let environment = engine.environment().clone();
    let face = Arc::new(Face::new(engine.clone(), environment, FaceOptions::default()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(std::thread::available_parallelism().map_or(2, usize::from))
        .thread_name("shelfmark-io")
        .enable_all()
        .build()?;
    let mut upkeep = Upkeep::start(engine, UPKEEP_PERIOD)?;
    let outcome = runtime.block_on(async {
        let server = Server::bind(&Settings { dynamodb: Some(dynamodb) }, face).await?;
        // Asked for before anybody is told that the server is there.
        let stop = stop_signal()?;
        announce(&server.addresses(), ready_file)?;
        server.run(stop).await;
        anyhow::Ok(())
    });
    upkeep.stop();
    outcome
}

fn announce(addresses: &Addresses, ready_file: Option<&Path>) -> anyhow::Result<()> {
    let text = |address: Option<SocketAddr>| address.map(|address| address.to_string());
    let ready = Ready { dynamodb: text(addresses.dynamodb) };
    if let Some(address) = &ready.dynamodb {
        writeln!(std::io::stdout(), "dynamodb http://{address}")?;
    }
    if let Some(path) = ready_file {
        vfs::replace(path, serde_json::to_string(&ready)?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Returns a future that is done when the process is asked to stop.
fn stop_signal() -> anyhow::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        Ok(async move {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        Ok(async {
            let _ = tokio::signal::ctrl_c().await;
        })
    }
}
