//! Adds the switch to the copy of a crate, and asks the compiler what is wrong with the copy.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;

/// The variable of the environment that says which mutant runs.
pub(super) const VARIABLE: &str = "SHELFMARK_MUTANT";

/// The variable of the environment that names the file to which the functions are written that run.
pub(super) const REACHED_VARIABLE: &str = "SHELFMARK_MUTANT_REACHED";

const SWITCH: &str = "
/// Returns the number of the mutant that runs, and notes that this function runs.
#[allow(dead_code, reason = \"every mutant may be left out\")]
pub(crate) fn mutant_switch(function: usize) -> usize {
    use std::collections::BTreeSet;
    use std::io::Write as _;
    use std::sync::{Mutex, OnceLock};
    static STATE: OnceLock<(usize, Option<Mutex<(std::fs::File, BTreeSet<usize>)>>)> = OnceLock::new();
    let (number, reached) = STATE.get_or_init(|| {
        let number = std::env::var(\"NUMBER\").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
        let open = |path| std::fs::OpenOptions::new().append(true).create(true).open(path).ok();
        let file = std::env::var_os(\"REACHED\").and_then(open);
        (number, file.map(|file| Mutex::new((file, BTreeSet::new()))))
    });
    if let Some(reached) = reached {
        let mut reached = reached.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if reached.1.insert(function) {
            let line = format!(\"{function}\\n\");
            let _ = reached.0.write_all(line.as_bytes());
        }
    }
    *number
}
";

/// Adds the function that reads the variables to a crate.
pub(super) fn add_switch(tree: &Path, package: &str) -> anyhow::Result<()> {
    let path = tree.join("crates").join(package).join("src/lib.rs");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    if text.contains("fn mutant_switch") {
        return Ok(());
    }
    let switch = SWITCH.replace("NUMBER", VARIABLE).replace("REACHED", REACHED_VARIABLE);
    Ok(std::fs::write(&path, text + &switch)?)
}

/// Returns the files and lines of errors in a crate.
pub(super) fn errors(tree: &Path, package: &str) -> anyhow::Result<Vec<(String, usize)>> {
    let output = Command::new("cargo")
        // Some errors, such as sums that overflow, are found only when code is generated.
        .args(["test", "--no-run", "--package", package, "--message-format", "json"])
        .current_dir(tree)
        .stderr(Stdio::null())
        .output()
        .context("cannot start cargo")?;
    let mut found = Vec::new();
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in lines.lines() {
        let Ok(json) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let Some(message) = json.get("message") else { continue };
        if message.get("level").and_then(serde_json::Value::as_str) != Some("error") {
            continue;
        }
        let spans = message.get("spans").and_then(serde_json::Value::as_array);
        for span in spans.into_iter().flatten() {
            let file = span.get("file_name").and_then(serde_json::Value::as_str);
            let line = span.get("line_start").and_then(serde_json::Value::as_u64);
            if let (Some(file), Some(line)) = (file, line) {
                found.push((file.to_owned(), usize::try_from(line)?));
            }
        }
    }
    if found.is_empty() && !output.status.success() {
        anyhow::bail!("cargo test --no-run fails in {}, and names no line", tree.display());
    }
    Ok(found)
}
