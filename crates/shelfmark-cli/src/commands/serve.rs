//! `shelfmark serve`: opens a store, serves its faces, and stops cleanly.

use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use sd_notify::NotifyState;
use serde::Serialize;
use shelfmark_admin::{Admin, ModelFile, ModelWatch as _, Watch};
use shelfmark_console::Console;
use shelfmark_cql as cql;
use shelfmark_dynamo as dynamo;
use shelfmark_engine::budget::Budget;
use shelfmark_engine::{Engine, Random as _, Share, Upkeep};
use shelfmark_server::{
    Addresses, BucketFolder, ConsoleSettings, CqlSettings, Faces, Guard, Pages, Pool, PoolSize,
    Server, Settings, SpoolFolder, Tls, check_exposed, check_free, cql_watcher, limits,
};
use shelfmark_store::embedded::Options;
use shelfmark_store::{Durability, vfs};
use shelfmark_watch::Watcher;

use super::reload::Reload;
use super::settings::{self, Config, Setting};
use crate::arguments::Serve;
use crate::cluster::{ClusterTls, cluster};
use crate::connect::ServedFaces;
use crate::credentials;
use crate::log::{self, Refusals};
use crate::memory::{self, Parts};
use crate::random::SystemRandom;
use crate::store::{memory as in_memory, open, shared};
use crate::traces::{TraceSettings, Traces};

const DATA: &str = "./shelfmark-data";
const DYNAMODB_PORT: u16 = 8000;
const CQL_PORT: u16 = 9042;
/// A token that nobody guesses.
const CONSOLE_TOKEN_BYTES_MIN: usize = 16;
/// Source: ours; on local disks a tenth of a second is ten syncs.
const SLOW_AFTER: Duration = Duration::from_millis(100);
const UPKEEP_PERIOD: Duration = Duration::from_secs(1);
/// Interval at which a burst of refusals is checked for its end.
const REFUSALS_LOOK_PERIOD: Duration = Duration::from_secs(1);

/// The content of the ready file: a face that is off is absent.
#[derive(Debug, Serialize)]
struct Ready {
    #[serde(skip_serializing_if = "Option::is_none")]
    dynamodb: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cql: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    console: Option<String>,
}

pub(crate) fn run(flags: &Serve) -> anyhow::Result<()> {
    let settings::Settings { config, each, .. } = settings::of(flags)?;
    let reloader = log::start(config.log.as_deref(), config.log_format.as_deref())?;
    tracing::info!("shelfmark {} starts", env!("CARGO_PKG_VERSION"));
    let insecure = config.insecure.unwrap_or(false);
    let durability = durability(config.durability.as_deref())?;
    let loopback = |port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    let dynamodb = config.dynamodb.unwrap_or(loopback(DYNAMODB_PORT));
    let credentials = config.credentials.as_deref().map(credentials::read).transpose()?;
    let guard = Guard {
        setting: "credentials",
        flags: "--credentials FILE",
        is_set: credentials.is_some(),
    };
    check_exposed(dynamodb, guard, insecure)?;
    let cql = CqlSettings {
        address: config.cql.unwrap_or(loopback(CQL_PORT)),
        optional: config.cql.is_none(),
        tls: tls("cql", config.cql_tls_certificate.as_deref(), config.cql_tls_key.as_deref())?,
    };
    let login = login(&config)?;
    let guard = Guard {
        setting: "cql_user",
        flags: "--cql-user NAME and --cql-password-file FILE",
        is_set: login.is_some(),
    };
    check_exposed(cql.address, guard, insecure)?;
    warn_of_open_files(&config);
    let console_token = console_token(&config, insecure)?;
    let model = model(&config)?;
    let traces = traces(&config)?;
    // Before the folder is made: a port that is taken leaves nothing behind.
    clear_the_way(&config, dynamodb, &cql)?;
    let parts = parts(&config);
    let engine = open_engine(&config, durability, parts)?;
    let budget = Arc::new(Budget::new(parts.clients_bytes));
    let (chain, key) = (&config.dynamodb_tls_certificate, &config.dynamodb_tls_key);
    let watch = watch_of(&config, &each, &engine, model)?;
    let notes = (watch.clone(), engine.environment().clone());
    // Where nobody can look, nothing is noted.
    let is_watched = config.console.is_some() || traces.is_some();
    let watcher = is_watched.then(|| cql_watcher(notes.0.clone(), notes.1.clone()));
    let console = console(&config, console_token, &engine, watch);
    let settings = Settings {
        dynamodb: Some(dynamodb),
        dynamodb_tls: tls("dynamodb", chain.as_deref(), key.as_deref())?,
        cql: Some(cql),
        budget: Arc::clone(&budget),
        pages: Pages::of(config.cors.iter().flatten()).map_err(|why| anyhow!(why))?,
        console,
        watch: traces.is_some().then_some(notes),
        ..Settings::default()
    };
    let granted = share(&config, credentials.is_some())?;
    let options = dynamodb_options(&config, credentials, granted, parts);
    let cql_options = cql::FaceOptions {
        budget,
        spools: spools(&config),
        watcher,
        user_functions: user_functions(&config)?,
        builds_in_background: true,
        ..cql::FaceOptions::default()
    };
    let faces = (options, cql_options, buckets(config.buckets.as_deref())?);
    let shown = shared(&engine, granted);
    let files = (config.ready_file.as_deref(), parts.threads);
    let served =
        serve(&shown, settings, faces, (login, traces), (files, (flags.clone(), reloader)));
    let closed = engine.store().close().context("the store could not be closed in good order");
    if served.is_ok() && closed.is_ok() {
        tracing::info!("stopped in good order");
    }
    served.and(closed)
}

/// Reads the model that requests are compared with from the start on, if there is one, and checks it.
fn model(config: &Config) -> anyhow::Result<Option<ModelFile>> {
    let Some(path) = &config.model else { return Ok(None) };
    if config.console.is_none() {
        bail!("model needs console: what is seen is told there; set --console 127.0.0.1:8080");
    }
    let file = super::watch::model(path, config.model_schema.as_deref())?;
    let checked = shelfmark_watch::check(&file);
    checked.with_context(|| format!("cannot compare with {}", path.display()))?;
    Ok(Some(file))
}

/// Returns where spans of requests go, if they go anywhere.
fn traces(config: &Config) -> anyhow::Result<Option<TraceSettings>> {
    match &config.traces {
        Some(url) => TraceSettings::of(url, config.traces_one_in).map(Some),
        None if config.traces_one_in.is_some() => {
            bail!("traces_one_in needs traces: the collector that spans go to")
        }
        None => Ok(None),
    }
}

/// Creates the notes for whoever looks: they know the settings, and compare requests with models where
/// there is a console, from the start on with the model of the settings.
fn watch_of(
    config: &Config,
    each: &[Setting],
    engine: &Engine,
    model: Option<ModelFile>,
) -> anyhow::Result<Watch> {
    let watch = Watch::new(slow_after(config));
    watch.note_settings(each.iter().map(super::config::entry).collect());
    if config.console.is_none() {
        return Ok(watch);
    }
    let watcher = Watcher::new(Admin::new(shared(engine, Share::All)));
    if let Some(file) = model {
        watcher.open(&file).with_context(|| format!("cannot compare with {}", file.name))?;
    }
    watch.compare_with(Arc::new(watcher));
    Ok(watch)
}

/// Returns which tables DynamoDB requests of different regions and accounts see.
fn scopes(config: &Config) -> dynamo::Scopes {
    match config.shared.unwrap_or(false) {
        true => dynamo::Scopes::Shared,
        false => dynamo::Scopes::Separate,
    }
}

/// Shares out the memory.
fn parts(config: &Config) -> Parts {
    let usual = Options::default();
    let granted = memory::granted(config.memory_limit);
    if let Some(cut) = &granted.cut {
        tracing::warn!("{cut}");
    }
    Parts::of(granted.bytes, usual.block_cache_bytes, usual.memory_table_bytes)
}

/// Returns the settings of the console, if there is one.
fn console(
    config: &Config,
    token: Option<String>,
    engine: &Engine,
    watch: Watch,
) -> Option<ConsoleSettings> {
    config.console.map(|address| ConsoleSettings {
        address,
        token,
        admin: Admin::new(shared(engine, Share::All)).watching(watch),
        // The pages are over the faces, which are opened later.
        site: None,
    })
}

/// Removes the ready file of an earlier run, which would say that this one is ready, and checks that the
/// ports are free.
fn clear_the_way(config: &Config, dynamodb: SocketAddr, cql: &CqlSettings) -> anyhow::Result<()> {
    if let Some(path) = &config.ready_file {
        vfs::remove(path).with_context(|| format!("cannot replace {}", path.display()))?;
    }
    let asked_for = (!cql.optional).then_some(cql.address);
    for address in [Some(dynamodb), config.console, asked_for].into_iter().flatten() {
        check_free(address)?;
    }
    Ok(())
}

/// Returns the duration from which on requests are noted as slow.
fn slow_after(config: &Config) -> Duration {
    config.slow_after.map_or(SLOW_AFTER, Duration::from_millis)
}

/// Returns the buckets for exports and imports, if there is a folder for them.
fn buckets(folder: Option<&Path>) -> anyhow::Result<Option<BucketFolder>> {
    let Some(folder) = folder else { return Ok(None) };
    let opened = BucketFolder::open(folder);
    opened.map(Some).with_context(|| {
        format!(
            "cannot use {} for buckets: create it, and a folder in it for each",
            folder.display()
        )
    })
}

/// Returns the token that the console asks for, if it does.
fn console_token(config: &Config, insecure: bool) -> anyhow::Result<Option<String>> {
    let Some(address) = config.console else { return Ok(None) };
    let token = config.console_token_file.as_deref().map(credentials::password).transpose()?;
    let guard = Guard {
        setting: "console_token_file",
        flags: "--console-token-file FILE",
        is_set: token.is_some(),
    };
    check_exposed(address, guard, insecure)?;
    let Some(token) = token else { return Ok(None) };
    if token.trim().len() < CONSOLE_TOKEN_BYTES_MIN {
        bail!(
            "the console's token has fewer than {CONSOLE_TOKEN_BYTES_MIN} bytes; make one with: \
             openssl rand -hex 32"
        );
    }
    Ok(Some(token.trim().to_owned()))
}

/// Returns the login of CQL clients, if they have to log in.
fn login(config: &Config) -> anyhow::Result<Option<cql::Login>> {
    let authorizer = authorizer(config)?;
    let (name, path) = match (&config.cql_user, &config.cql_password_file) {
        (Some(name), Some(path)) => (name, path),
        (None, None) => return Ok(None),
        _ => bail!("cql_user and cql_password_file go together"),
    };
    let password = credentials::password(path)?;
    let bytes_max = cql::limits::CREDENTIAL_SIZE_BYTES_MAX;
    if name.is_empty() || name.contains('\0') {
        bail!("cql_user is empty or holds a NUL: name the role that logs in, such as cassandra");
    }
    if name.len() > bytes_max || password.len() > bytes_max {
        bail!("cql_user and its password have at most {bytes_max} bytes: nobody could log in");
    }
    let salt = || {
        let mut salt = [0; 16];
        SystemRandom.fill(&mut salt);
        salt
    };
    let role = cql::OneRole::new(name, &password, salt());
    let refusals = Refusals::of("a CQL login");
    let login = cql::Login::new(role, salt()).with_authorizer(authorizer);
    Ok(Some(login.telling(Arc::new(move |name| refusals.tell(name)))))
}

/// Returns the authorizer of CQL roles: permissions, where there are roles.
fn authorizer(config: &Config) -> anyhow::Result<cql::Authorizer> {
    let has_logins = config.cql_user.is_some();
    let authorizer = match config.cql_authorizer.as_deref() {
        None if has_logins => cql::Authorizer::Cassandra,
        None => cql::Authorizer::AllowAll,
        Some(name) => cql::Authorizer::named(name).with_context(|| {
            format!("cql_authorizer is CassandraAuthorizer or AllowAllAuthorizer, not {name:?}")
        })?,
    };
    if authorizer == cql::Authorizer::Cassandra && !has_logins {
        bail!(
            "cql_authorizer CassandraAuthorizer needs cql_user and cql_password_file: permissions are \
             given to roles, and without a login there is none"
        );
    }
    Ok(authorizer)
}

/// Returns whether CQL clients may make and call functions of their own.
fn user_functions(config: &Config) -> anyhow::Result<bool> {
    match config.cql_functions.as_deref() {
        None | Some("on") => Ok(true),
        Some("off") => Ok(false),
        Some(other) => bail!("cql_functions is on or off, not {other:?}"),
    }
}

/// Returns the default grant on tables of another face.
fn share(config: &Config, asks_for_credentials: bool) -> anyhow::Result<Share> {
    let Some(word) = &config.share else {
        // Who is asked for a name at one door must not be passed by at the other.
        let is_alike = asks_for_credentials == config.cql_user.is_some();
        return Ok(if is_alike { Share::Read } else { Share::None });
    };
    Share::of_word(word).with_context(|| format!("share is none, read or all, not {word:?}"))
}

/// Returns the TLS settings of a face's connections, if they are encrypted.
pub(super) fn tls(
    face: &str,
    chain: Option<&Path>,
    key: Option<&Path>,
) -> anyhow::Result<Option<Tls>> {
    let (chain, key) = match (chain, key) {
        (Some(chain), Some(key)) => (chain, key),
        (None, None) => return Ok(None),
        _ => bail!("{face}_tls_certificate and {face}_tls_key go together"),
    };
    let read =
        |path: &Path| vfs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let tls = Tls::from_pem(&read(chain)?, &read(key)?);
    tls.map(Some).with_context(|| format!("{} and {}", chain.display(), key.display()))
}

/// Warns of files with secrets that every user of the machine can read.
fn warn_of_open_files(config: &Config) {
    let files = [
        ("the credentials", &config.credentials),
        ("the password", &config.cql_password_file),
        ("the token", &config.console_token_file),
        ("the key", &config.dynamodb_tls_key),
        ("the key", &config.cql_tls_key),
    ];
    for (what, path) in files {
        if let Some(path) = path {
            log::warn_if_open_to_all(what, path);
        }
    }
}

/// Returns the spools for answers that are too long for memory; `None` for a store in memory.
fn spools(config: &Config) -> Option<Arc<dyn cql::Spools>> {
    let folder = config.data.as_deref().unwrap_or(Path::new(DATA));
    // A server on a cluster has a folder only where one is named for this.
    let has_folder =
        config.memory != Some(true) && (config.engine.is_none() || config.data.is_some());
    has_folder.then(|| Arc::new(SpoolFolder::new(folder.to_owned())) as _)
}

fn open_engine(config: &Config, durability: Durability, parts: Parts) -> anyhow::Result<Engine> {
    if config.memory == Some(true) {
        return in_memory();
    }
    if let Some(address) = &config.engine {
        let files = (&config.engine_tls_ca, &config.engine_tls_certificate, &config.engine_tls_key);
        return cluster(address, ClusterTls::of(files)?.as_ref());
    }
    let usual = Options::default();
    let disk_free_bytes_min = config.disk_free_min.unwrap_or(usual.disk_free_bytes_min);
    // A quarter is what the usual numbers have to each other.
    let disk_free_bytes_reserve = usual.disk_free_bytes_reserve.min(disk_free_bytes_min / 4);
    let options = Options {
        durability,
        disk_free_bytes_min,
        disk_free_bytes_reserve,
        block_cache_bytes: parts.cache_bytes,
        memory_table_bytes: parts.memory_table_bytes,
        snapshot_bytes_max: parts.snapshot_bytes_max.min(usual.snapshot_bytes_max),
        ..usual
    };
    let folder = config.data.as_deref().unwrap_or(Path::new(DATA));
    let engine = open(folder, options, true)?;
    log::warn_if_open_to_all("the data folder", folder);
    Ok(engine)
}

/// Returns the options of DynamoDB's face.
fn dynamodb_options(
    config: &Config,
    credentials: Option<dynamo::auth::Credentials>,
    share: Share,
    parts: Parts,
) -> dynamo::FaceOptions {
    let refusals = Refusals::of("a DynamoDB request's signature");
    dynamo::FaceOptions {
        share,
        scopes: scopes(config),
        credentials,
        refusals: Some(Arc::new(move |why| refusals.tell(why))),
        import_window_bytes: parts.import_window_bytes,
        ..dynamo::FaceOptions::default()
    }
}

/// Gives the console its pages, and what asks the faces for clients of its address.
fn give_pages(
    console: &mut ConsoleSettings,
    engine: &Engine,
    dynamodb: &Arc<dynamo::Face>,
    cql: &Arc<cql::Face>,
) {
    let pages = Console::new(engine.clone(), Arc::clone(dynamodb), Arc::clone(cql));
    let pages = match console.admin.watch() {
        Some(watch) => pages.watching(watch.clone()),
        None => pages,
    };
    console.site = Some(Arc::new(pages));
    let faces = ServedFaces::new(engine, Arc::clone(cql));
    console.admin = console.admin.clone().asking(Arc::new(faces));
}

/// Begins to send traces, where a collector is named.
fn start_traces(
    traces: Option<&TraceSettings>,
    settings: &Settings,
    runtime: &tokio::runtime::Runtime,
) -> anyhow::Result<Option<Traces>> {
    let (Some(own), Some((watch, _))) = (traces, &settings.watch) else { return Ok(None) };
    let (traces, spans) = Traces::start(own, runtime.handle().clone())?;
    watch.trace_with(Arc::new(spans));
    Ok(Some(traces))
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

fn serve(
    engine: &Engine,
    mut settings: Settings,
    (options, cql_options, buckets): (dynamo::FaceOptions, cql::FaceOptions, Option<BucketFolder>),
    (login, traces): (Option<cql::Login>, Option<TraceSettings>),
    ((ready_file, threads), (flags, log)): ((Option<&Path>, usize), (Serve, log::Reloader)),
) -> anyhow::Result<()> {
    let environment = engine.environment().clone();
    let processors = std::thread::available_parallelism().map_or(2, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(processors)
        .thread_name("shelfmark-io")
        .enable_all()
        .build()?;
    // For work that may take long: changing tables, long reads, checking passwords.
    let size = PoolSize::of(&engine.store().caps(), processors, threads);
    let pool = Arc::new(Pool::new(size, runtime.handle().clone()));
    let own = Arc::clone(&pool);
    let cql = cql::Face::open(engine.clone(), environment.clone(), cql_options, login, own);
    let cql = cql.map_err(|error| anyhow::anyhow!("CQL tables cannot be read: {error}"))?;
    let dynamodb = dynamo::Face::new(engine.clone(), environment, options);
    let dynamodb = dynamodb.with_pool(Arc::clone(&pool) as _);
    let dynamodb = match buckets {
        Some(buckets) => dynamodb.with_buckets(Arc::new(buckets)),
        None => dynamodb,
    };
    if let Some(waiting) = dynamodb.waiting_for_buckets()? {
        tracing::warn!("{waiting}");
    }
    let (dynamodb, cql) = (Arc::new(dynamodb), Arc::new(cql));
    if let Some(console) = &mut settings.console {
        give_pages(console, engine, &dynamodb, &cql);
    }
    let traces = start_traces(traces.as_ref(), &settings, &runtime)?;
    let reload = Reload {
        flags,
        log,
        dynamodb: Arc::clone(&dynamodb),
        dynamodb_tls: settings.dynamodb_tls.clone(),
        cql_tls: settings.cql.as_ref().and_then(|cql| cql.tls.clone()),
    };
    let faces = Faces { dynamodb: Some(dynamodb), cql: Some(cql) };
    let mut upkeep = Upkeep::start_told(engine, UPKEEP_PERIOD, log::background)?;
    let scheme = if settings.dynamodb_tls.is_some() { "https" } else { "http" };
    let outcome = runtime.block_on(async {
        let server = Server::bind(settings, faces).await?;
        // Asked for before anybody is told that the server is there.
        let stop = stop_signal()?;
        reload_on_signal(reload)?;
        tokio::spawn(tell_refusals());
        server.announce(engine);
        announce(&server.addresses(), scheme, ready_file)?;
        tell_supervisor(NotifyState::Ready);
        let stop = async {
            stop.await;
            tracing::info!("asked to stop; what is under way ends first");
            tell_supervisor(NotifyState::Stopping);
        };
        server.run(stop).await;
        log::tell_counted(true);
        anyhow::Ok(())
    });
    if let Some(traces) = traces {
        traces.stop();
    }
    // What hangs ends with the process.
    if !pool.stop(limits::POOL_STOP_TIME_MAX) {
        tracing::warn!("some long requests did not end in time and are cut off");
    }
    runtime.shutdown_timeout(limits::POOL_STOP_TIME_MAX);
    upkeep.stop();
    outcome
}

fn announce(addresses: &Addresses, scheme: &str, ready_file: Option<&Path>) -> anyhow::Result<()> {
    let text = |address: Option<SocketAddr>| address.map(|address| address.to_string());
    let ready = Ready {
        dynamodb: text(addresses.dynamodb),
        cql: text(addresses.cql),
        console: text(addresses.console),
    };
    if let Some(address) = &ready.dynamodb {
        tracing::info!("DynamoDB clients are served at {scheme}://{address}");
    }
    if let Some(address) = &ready.cql {
        tracing::info!("CQL clients are served at {address}");
    }
    if let Some(path) = ready_file {
        vfs::replace_shared(path, serde_json::to_string(&ready)?.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(address) = &ready.dynamodb {
        writeln!(std::io::stdout(), "dynamodb {scheme}://{address}")?;
    }
    if let Some(address) = &ready.cql {
        writeln!(std::io::stdout(), "cql {address}")?;
    }
    if let Some(address) = &ready.console {
        writeln!(std::io::stdout(), "console http://{address}")?;
    }
    Ok(())
}

/// Tells a supervisor that asked for it (systemd's `Type=notify`) how the server is.
fn tell_supervisor(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(false, &[state]) {
        tracing::warn!(%error, "the supervisor could not be told");
    }
}

/// Has refusals that were counted told once their burst is over.
async fn tell_refusals() {
    let mut looks = tokio::time::interval(REFUSALS_LOOK_PERIOD);
    loop {
        looks.tick().await;
        log::tell_counted(false);
    }
}

/// Reads the settings again each time the process gets SIGHUP.
fn reload_on_signal(reload: Reload) -> anyhow::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut hangups = signal(SignalKind::hangup())?;
        let reload = Arc::new(reload);
        tokio::spawn(async move {
            while hangups.recv().await.is_some() {
                let reload = Arc::clone(&reload);
                // Files are read on a thread that may wait; one reading at a time.
                let _ = tokio::task::spawn_blocking(move || reload.run()).await;
            }
        });
    }
    #[cfg(not(unix))]
    drop(reload);
    Ok(())
}

/// Returns a future that completes when the process is asked to stop.
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
