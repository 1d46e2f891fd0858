//! Parses the examples of configuration under `deploy`, and has the command know their flags.
//!
//! What it is not: a trial of them. No machine of tests has a cluster of Kubernetes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use yaml_rust2::{Yaml, YamlLoader};

use super::{has_extension, read};

/// The file that declares the flags of `serve`.
const ARGUMENTS: &str = "crates/shelfmark-cli/src/arguments/mod.rs";
/// The sections of a unit of systemd.
const SECTIONS: [&str; 3] = ["Unit", "Service", "Install"];
/// The instructions of a Containerfile that ours may use.
const INSTRUCTIONS: [&str; 13] = [
    "ARG",
    "CMD",
    "COPY",
    "ENTRYPOINT",
    "ENV",
    "EXPOSE",
    "FROM",
    "HEALTHCHECK",
    "RUN",
    "STOPSIGNAL",
    "USER",
    "VOLUME",
    "WORKDIR",
];

pub(super) fn check(files: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let flags = flags()?;
    let mut problems = Vec::new();
    for path in files.iter().filter(|path| path.starts_with("deploy")) {
        let text = read(path)?;
        let used = if has_extension(path, "yaml") {
            match YamlLoader::load_from_str(&text) {
                Ok(documents) => {
                    documents.iter().flat_map(|own| arguments(path, own, &mut problems)).collect()
                }
                Err(error) => {
                    problems.push(format!("{}: {error}", path.display()));
                    continue;
                }
            }
        } else if has_extension(path, "service") {
            unit(path, &text, &mut problems)
        } else if path.file_name().is_some_and(|name| name == "Containerfile") {
            image(path, &text, &mut problems)
        } else {
            Vec::new()
        };
        for flag in used.iter().filter(|flag| !flags.contains(*flag)) {
            problems.push(format!("{}: `serve` has no flag --{flag}", path.display()));
        }
    }
    Ok(problems)
}

/// Returns the flags of `serve`, by the names of its fields.
fn flags() -> anyhow::Result<BTreeSet<String>> {
    let text = read(Path::new(ARGUMENTS))?;
    let serve = text.split_once("pub(crate) struct Serve {").context("struct Serve")?.1;
    let fields = serve.split_once("\n}").context("the end of struct Serve")?.0;
    let names = fields.lines().filter_map(|line| line.trim().strip_prefix("pub(crate) "));
    Ok(names.filter_map(|field| Some(field.split_once(':')?.0.replace('_', "-"))).collect())
}

fn flag_of(word: &str) -> Option<String> {
    let flag = word.strip_prefix("--")?;
    Some(flag.split('=').next().unwrap_or(flag).to_owned())
}

/// Returns the flags of the containers of a document, which has a kind and a name.
fn arguments(path: &Path, document: &Yaml, problems: &mut Vec<String>) -> Vec<String> {
    let is_named = document["metadata"]["name"].as_str().is_some();
    if document["apiVersion"].as_str().is_none() || document["kind"].as_str().is_none() || !is_named
    {
        problems.push(format!("{}: a document has no apiVersion, kind or name", path.display()));
    }
    let containers = document["spec"]["template"]["spec"]["containers"].as_vec();
    let words = containers.into_iter().flatten().filter_map(|own| own["args"].as_vec()).flatten();
    words.filter_map(|word| flag_of(word.as_str()?)).collect()
}

/// Returns the flags of a unit's command, whose lines are sections, comments and settings.
fn unit(path: &Path, text: &str, problems: &mut Vec<String>) -> Vec<String> {
    let mut flags = Vec::new();
    let mut section = None;
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = SECTIONS.contains(&name).then_some(name);
        }
        let is_heading = line.starts_with('[');
        let setting =
            line.split_once('=').filter(|(name, _)| name.chars().all(char::is_alphanumeric));
        if section.is_none() || !(is_heading || setting.is_some()) {
            problems.push(format!("{}:{}: no setting of a unit", path.display(), number + 1));
        }
        if let Some(("ExecStart", command)) = setting {
            flags.extend(command.split_whitespace().filter_map(flag_of));
        }
    }
    flags
}

/// Returns the flags of an image's command. Looks whether instructions are known, and whether stages and
/// arguments that they name are declared above them.
fn image(path: &Path, text: &str, problems: &mut Vec<String>) -> Vec<String> {
    let mut flags = Vec::new();
    let mut declared = BTreeSet::new();
    for (number, line) in text.lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut problem = |what: &str| {
            problems.push(format!("{}:{}: {what}", path.display(), number + 1));
        };
        let (instruction, rest) = line.split_once(' ').unwrap_or((line, ""));
        if !INSTRUCTIONS.contains(&instruction) || rest.is_empty() {
            problem("no instruction of a Containerfile");
        }
        let words: Vec<&str> = rest.split_whitespace().collect();
        match (instruction, words.as_slice()) {
            ("ARG", [name, ..]) => {
                declared.insert(name.split('=').next().unwrap_or(name).to_owned());
            }
            ("FROM", [base, rest @ ..]) => {
                let argument = base.strip_prefix("${").and_then(|name| name.strip_suffix('}'));
                if argument.is_some_and(|name| !declared.contains(name)) {
                    problem("no ARG above declares the image");
                }
                if let ["AS", stage] = rest {
                    declared.insert((*stage).to_owned());
                }
            }
            ("COPY", words) => {
                let stage = words.iter().find_map(|word| word.strip_prefix("--from="));
                if stage.is_some_and(|name| !declared.contains(name)) {
                    problem("no FROM above names the stage");
                }
            }
            ("CMD" | "ENTRYPOINT", _) => match serde_json::from_str::<Vec<String>>(rest) {
                Ok(words) => flags.extend(words.iter().filter_map(|word| flag_of(word))),
                Err(_) => problem("a command is a JSON array of texts"),
            },
            _ => {}
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (Vec<String>, Vec<String>) {
        let mut problems = Vec::new();
        let flags = image(Path::new("Containerfile"), text, &mut problems);
        (flags, problems)
    }

    #[test]
    fn an_image_names_what_is_declared() {
        let (flags, problems) = told(
            "ARG A=b\nFROM ${A} AS build\nRUN make\nFROM c\nCOPY --from=build /a /b\n\
             CMD [\"serve\", \"--data\", \"/d\"]\n",
        );
        assert_eq!((flags, problems), (vec!["data".to_owned()], Vec::new()));
    }

    #[test]
    fn what_an_image_names_and_nothing_declares_is_found() {
        for (text, what) in [
            ("FROM ${A}\n", "no ARG above declares the image"),
            ("FROM a AS b\nCOPY --from=c /a /b\n", "no FROM above names the stage"),
            ("FORM a\n", "no instruction of a Containerfile"),
            ("CMD serve --data\n", "a command is a JSON array of texts"),
        ] {
            let (_, problems) = told(text);
            assert!(matches!(problems.as_slice(), [one] if one.ends_with(what)), "{problems:?}");
        }
    }
}
