//! The real clients: unmodified, from their registries, against a server of this build.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::oracle;
use crate::run::{built, root, run as start, run_with, target_folder};

/// The CQL clients of Python: the environment of each, its tests, and those of the long form.
///
/// Two of them are packages of one name, so each has an environment of its own. The drivers' code is
/// the same in most: what one of them has shown, the other repeats in the long form.
const CQL_CLIENTS: [(&str, &[&str], &[&str]); 3] = [
    (
        "cassandra",
        &[
            "test_handshake.py",
            "test_statements.py",
            "test_driver.py",
            "test_mapper.py",
            "test_system.py",
            "test_logins.py",
            "test_permissions.py",
            "test_restart.py",
            "test_shared.py",
        ],
        &[],
    ),
    (
        "scylla",
        &["test_handshake.py", "test_statements.py"],
        &["test_driver.py", "test_mapper.py", "test_logins.py", "test_restart.py"],
    ),
    ("cqlsh", &["test_cqlsh.py", "test_cqlsh_logins.py"], &[]),
];

/// Builds the command, then does as [`run_built`].
pub(crate) fn run(long: bool) -> anyhow::Result<()> {
    start("cargo", &["build", "--package", "shelfmark-cli"])?;
    run_built(long)
}

/// Runs every client's tests and examples against the command as it was built; `long` adds those
/// that take long, and those that need more tools than there are everywhere.
pub(crate) fn run_built(long: bool) -> anyhow::Result<()> {
    let python = virtual_environment("clients-python", "clients/python/requirements.txt")?;
    let cql = CQL_CLIENTS.map(|(name, tests, more)| {
        let requirements = format!("{CQL_FOLDER}/requirements-{name}.txt");
        let tests = [tests, if long { more } else { &[] }].concat();
        virtual_environment(&format!("clients-cql-{name}"), &requirements)
            .map(|python| (python, tests))
    });
    let folder = target_folder().join("clients-data");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let python = python.to_string_lossy();
    signed(&python, &folder)?;
    // What a web page of this origin is told is among the tests.
    let server = Server::start(&folder, &["--cors", "http://example.com"])?;
    let endpoint = format!("http://{}", server.dynamodb);
    let variables = aws(&endpoint);
    let command = command();
    let command = command.to_string_lossy();
    let tests = ["-m", "unittest", "discover", "-v", "-s", "clients/python"];
    run_with(&python, &tests, &[&variables[..], &[("SHELFMARK", &command)]].concat())?;
    run_with(&python, &["examples/publication_index.py"], &variables)?;
    let cql_variables = [("SHELFMARK_CQL", server.cql.as_str()), ("SHELFMARK", &command)];
    let mut secured = None;
    for client in cql {
        let (python, tests) = client?;
        let python = python.to_string_lossy().into_owned();
        for test in tests {
            let words = ["-m", "unittest", "discover", "-v", "-s", CQL_FOLDER, "-p", test];
            run_with(&python, &words, &cql_variables)?;
        }
        secured.get_or_insert(python);
    }
    let secured = secured.context("there is no CQL client of Python")?;
    other_languages(&secured, &[&variables[..], &cql_variables].concat(), long)?;
    server.stop()?;
    browser(&command)?;
    oracle::check(&folder)
}

/// Looks at the console's pages in a browser, where one is installed; it starts a server of its own.
fn browser(command: &str) -> anyhow::Result<()> {
    if !is_there("npm") || !is_there("chromium") {
        return Ok(());
    }
    let folder = node_modules("clients/browser", &["console.test.mjs"])?;
    let test = folder.join("console.test.mjs");
    run_with("node", &["--test", &test.to_string_lossy()], &[("SHELFMARK", command)])
}

/// Copies tests for Node.js to where their modules are installed: those land beside what names them.
fn node_modules(source: &str, tests: &[&str]) -> anyhow::Result<PathBuf> {
    let folder = target_folder().join(source.replace('/', "-"));
    std::fs::create_dir_all(&folder)?;
    for name in [&["package.json"], tests].concat() {
        std::fs::copy(root().join(source).join(name), folder.join(name))?;
    }
    let shown = folder.to_string_lossy();
    start("npm", &["--prefix", &shown, "install", "--no-audit", "--no-fund"])?;
    Ok(folder)
}

/// Returns the environment of the AWS clients.
fn aws(endpoint: &str) -> [(&str, &str); 5] {
    [
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoint),
        ("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", endpoint),
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_DEFAULT_REGION", "eu-central-1"),
    ]
}

/// The keys of the server that asks for signatures: one that may do everything, and two that may not.
const KEYS: &str = "\
[a]
aws_access_key_id = local
aws_secret_access_key = local
[reader]
aws_access_key_id = reader
aws_secret_access_key = reads
shelfmark_tables = policies-orders, policies-logs-*
shelfmark_access = read
[writer]
aws_access_key_id = writer
aws_secret_access_key = writes
shelfmark_tables = policies-orders
shelfmark_access = read, write
";

/// Runs what needs a server that asks for signatures: those of boto3, right and wrong.
fn signed(python: &str, folder: &Path) -> anyhow::Result<()> {
    let folder = folder.join("signed");
    std::fs::create_dir_all(&folder)?;
    let keys = folder.join("keys");
    std::fs::write(&keys, KEYS)?;
    let server = Server::start(&folder, &["--credentials", &keys.to_string_lossy()])?;
    let endpoint = format!("http://{}", server.dynamodb);
    let tests = ["-m", "unittest", "discover", "-v", "-s", "clients/python/signed"];
    run_with(python, &tests, &aws(&endpoint))?;
    run_with(python, &["examples/publication_index.py"], &aws(&endpoint))?;
    server.stop()
}

/// Runs the clients of other languages; one whose tool chain is missing is left out, and that is
/// said. Those that log in and encrypt find a second server, which `python` starts for them.
fn other_languages(python: &str, variables: &[(&str, &str)], long: bool) -> anyhow::Result<()> {
    let beside_secured = |words: &[&str]| {
        run_with(python, &[&["clients/python/cql/served.py"], words].concat(), variables)
    };
    if is_there("npm") {
        let tests = ["cql.test.mjs", "secured.test.mjs", "dynamodb.test.mjs"];
        let folder = node_modules("clients/node", &tests)?;
        let tests = tests.map(|test| folder.join(test).to_string_lossy().into_owned());
        beside_secured(&[&["node", "--test"][..], &tests.each_ref().map(String::as_str)].concat())?;
    }
    if is_there("go") {
        beside_secured(&["go", "-C", "clients/go", "test", "-count=1", "./..."])?;
        if long {
            // A module of its own: the SDK takes a minute to compile.
            run_with("go", &["-C", "clients/go/dynamodb", "test", "-count=1", "./..."], variables)?;
        }
    }
    if long && is_there("mvn") && is_there("javac") {
        // What Maven builds stays out of the repository.
        let target = format!("-Dtarget={}", target_folder().join("clients-java").display());
        beside_secured(&["mvn", "--quiet", "-B", "-f", "clients/java/pom.xml", &target, "test"])?;
    }
    let target = target_folder().join("clients-rust");
    let target = target.to_string_lossy();
    let manifest = ["test", "--manifest-path", "clients/rust/Cargo.toml", "--target-dir", &target];
    run_with("cargo", &manifest, variables)
}

/// Returns true if a program is installed.
pub(crate) fn is_there(tool: &str) -> bool {
    let version = if tool == "go" { "version" } else { "--version" };
    let found = Command::new(tool).arg(version).output().is_ok_and(|out| out.status.success());
    if !found {
        println!("{tool} is not installed: its clients are left out");
    }
    found
}

/// The tests of the CQL clients of Python.
const CQL_FOLDER: &str = "clients/python/cql";

/// Makes the virtual environment with the pinned client libraries, unless it is there.
pub(crate) fn virtual_environment(name: &str, requirements: &str) -> anyhow::Result<PathBuf> {
    let folder = target_folder().join(name);
    let python = folder.join("bin").join("python");
    let shown = folder.to_string_lossy().into_owned();
    // Its scripts name the folder, so one that was moved is made anew.
    let wanted = format!("{shown}\n{}", std::fs::read_to_string(root().join(requirements))?);
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    start("python3", &["-m", "venv", "--clear", &shown]).context(
        "the client tests need Python 3 with its venv module (Debian: apt-get install python3-venv)",
    )?;
    let tool = python.to_string_lossy().into_owned();
    start(&tool, &["-m", "pip", "install", "--quiet", "-r", requirements])?;
    std::fs::write(stamp, wanted)?;
    Ok(python)
}

/// Returns the command as it was built.
pub(crate) fn command() -> PathBuf {
    built("shelfmark")
}

/// A running server, ended with this value.
pub(crate) struct Server {
    process: Child,
    pub(crate) dynamodb: String,
    pub(crate) cql: String,
}

impl Server {
    /// Starts a server with its store in `folder` and waits until it answers.
    pub(crate) fn start(folder: &Path, more: &[&str]) -> anyhow::Result<Self> {
        let ready = folder.join("ready.json");
        let process = Command::new(command())
            .args(["serve", "--dynamodb", "127.0.0.1:0", "--cql", "127.0.0.1:0", "--data"])
            .arg(folder.join("store"))
            .args(more)
            .arg("--ready-file")
            .arg(&ready)
            .spawn()
            .context("cannot start the server")?;
        let mut server = Self { process, dynamodb: String::new(), cql: String::new() };
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline {
            if let Ok(text) = std::fs::read_to_string(&ready) {
                let addresses: serde_json::Value = serde_json::from_str(&text)?;
                for (face, place) in [("dynamodb", &mut server.dynamodb), ("cql", &mut server.cql)]
                {
                    let address = addresses.get(face).and_then(serde_json::Value::as_str);
                    address
                        .with_context(|| format!("the ready file names no address of {face}"))?
                        .clone_into(place);
                }
                return Ok(server);
            }
            if let Some(status) = server.process.try_wait()? {
                bail!("the server ended at once: {status}");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        bail!("the server was not ready in time")
    }

    /// Asks the server to stop and checks that it does so in good order.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        start("kill", &["-TERM", &self.process.id().to_string()])?;
        let status = self.process.wait()?;
        if !status.success() {
            bail!("the server did not stop in good order: {status}");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // After `stop` there is nobody left to kill.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
