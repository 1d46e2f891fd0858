//! The real clients: unmodified, from their registries, against a server of this build.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::run::{root, run as start, run_with};

/// Runs every client's tests and examples.
pub(crate) fn run() -> anyhow::Result<()> {
    let python = virtual_environment()?;
    start("cargo", &["build", "--package", "shelfmark-cli"])?;
    let folder = target_folder().join("clients-data");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let server = Server::start(&folder)?;
    let endpoint = format!("http://{}", server.dynamodb);
    let variables = [
        ("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str()),
        ("AWS_ACCESS_KEY_ID", "local"),
        ("AWS_SECRET_ACCESS_KEY", "local"),
        ("AWS_DEFAULT_REGION", "eu-central-1"),
    ];
    let python = python.to_string_lossy();
    run_with(&python, &["-m", "unittest", "discover", "-v", "-s", "clients/python"], &variables)?;
    run_with(&python, &["examples/publication_index.py"], &variables)?;
    server.stop()
}

/// Makes the virtual environment with the pinned client libraries, unless it is there.
fn virtual_environment() -> anyhow::Result<PathBuf> {
    let folder = target_folder().join("clients-python");
    let python = folder.join("bin").join("python");
    let wanted = std::fs::read_to_string(root().join("clients/python/requirements.txt"))?;
    let stamp = folder.join("installed");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let shown = folder.to_string_lossy().into_owned();
    start("python3", &["-m", "venv", &shown]).context(
        "the client tests need Python 3 with its venv module (Debian: apt-get install python3-venv)",
    )?;
    let tool = python.to_string_lossy().into_owned();
    start(&tool, &["-m", "pip", "install", "--quiet", "-r", "clients/python/requirements.txt"])?;
    std::fs::write(stamp, wanted)?;
    Ok(python)
}

fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

struct Server {
    process: Child,
    dynamodb: String,
}

impl Server {
    fn start(folder: &Path) -> anyhow::Result<Self> {
        let ready = folder.join("ready.json");
        let process = Command::new(target_folder().join("debug").join("shelfmark"))
            .args(["serve", "--dynamodb", "127.0.0.1:0", "--data"])
            .arg(folder.join("store"))
            .arg("--ready-file")
            .arg(&ready)
            .spawn()
            .context("cannot start the server")?;
        let mut server = Self { process, dynamodb: String::new() };
        let deadline = Instant::now() + Duration::from_secs(30);
        while Instant::now() < deadline {
            if let Ok(text) = std::fs::read_to_string(&ready) {
                let addresses: serde_json::Value = serde_json::from_str(&text)?;
                let address = addresses.get("dynamodb").and_then(serde_json::Value::as_str);
                address
                    .context("the ready file names no address")?
                    .clone_into(&mut server.dynamodb);
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
    fn stop(mut self) -> anyhow::Result<()> {
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
