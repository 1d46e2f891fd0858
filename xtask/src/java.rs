//! Servers of others that are written in Java, which answers are compared with: their libraries are
//! downloaded from Maven Central, and a script of `clients` starts them on loopback.
//!
//! What it is not: a way to get a Java machine. Where there is none, the caller says so or goes on.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::clients::is_there;
use crate::run::{root, run as start};

/// The programs that such a server needs.
const TOOLS: [&str; 2] = ["java", "mvn"];

/// Returns true if a server in Java can be downloaded and started; what is missing is said.
pub(crate) fn is_possible() -> bool {
    TOOLS.into_iter().all(is_there)
}

/// Fails if a program is missing that a server in Java needs.
pub(crate) fn require() -> anyhow::Result<()> {
    for tool in TOOLS {
        if !is_there(tool) {
            bail!("{tool} is needed (Debian: apt-get install openjdk-17-jdk-headless maven)");
        }
    }
    Ok(())
}

/// Returns the folder of the libraries that a `pom.xml` names, downloaded unless they are there.
pub(crate) fn libraries(pom: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let libraries = folder.join("lib");
    if !libraries.exists() {
        let output = format!("-DoutputDirectory={}", libraries.display());
        start("mvn", &["--quiet", "-f", pom, "dependency:copy-dependencies", &output])?;
    }
    Ok(libraries)
}

/// A running server, ended with this value.
pub(crate) struct JavaServer {
    process: String,
}

impl JavaServer {
    /// Starts a server by its script, which gets libraries, a folder and a port, and prints the
    /// process id once the port answers.
    pub(crate) fn start(
        script: &str,
        libraries: &Path,
        folder: &Path,
        port: &str,
    ) -> anyhow::Result<Self> {
        let out = Command::new("python3")
            .current_dir(root())
            .arg(script)
            .args([libraries, folder])
            .arg(port)
            .output()
            .with_context(|| format!("cannot start {script}"))?;
        if !out.status.success() {
            bail!("{script} started no server: {}", String::from_utf8_lossy(&out.stderr));
        }
        Ok(Self { process: String::from_utf8(out.stdout)?.trim().to_owned() })
    }
}

impl Drop for JavaServer {
    fn drop(&mut self) {
        // There is nobody to tell that it was gone already.
        let _ = Command::new("kill").arg(&self.process).status();
    }
}
