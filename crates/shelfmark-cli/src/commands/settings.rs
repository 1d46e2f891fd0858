//! The settings of `serve`: from flags, the environment and a file, in this order of precedence.
//!
//! Each has one name: `cql_user` in the file, `SHELFMARK_CQL_USER` in the environment, `--cql-user` as a
//! flag. The layers are put over each other by name and parsed once, so a setting means the same wherever
//! it stands.
//!
//! Invariant: no setting is a secret: those that concern secrets name files.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use shelfmark_store::vfs;
use toml::{Table, Value};

use crate::arguments::{self, Serve};
use crate::memory;

/// Longest configuration file, in bytes. Source: ours.
const FILE_BYTES_MAX: usize = 1024 * 1024;
/// The beginning of the names of environment variables.
const PREFIX: &str = "SHELFMARK_";

/// The settings, parsed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) data: Option<PathBuf>,
    pub(crate) memory: Option<bool>,
    pub(crate) engine: Option<String>,
    pub(crate) engine_tls_ca: Option<PathBuf>,
    pub(crate) engine_tls_certificate: Option<PathBuf>,
    pub(crate) engine_tls_key: Option<PathBuf>,
    #[serde(default, deserialize_with = "address")]
    pub(crate) dynamodb: Option<SocketAddr>,
    pub(crate) dynamodb_tls_certificate: Option<PathBuf>,
    pub(crate) dynamodb_tls_key: Option<PathBuf>,
    #[serde(default, deserialize_with = "address")]
    pub(crate) cql: Option<SocketAddr>,
    #[serde(default, deserialize_with = "address")]
    pub(crate) console: Option<SocketAddr>,
    pub(crate) console_token_file: Option<PathBuf>,
    pub(crate) slow_after: Option<u64>,
    pub(crate) traces: Option<String>,
    pub(crate) traces_one_in: Option<u64>,
    pub(crate) model: Option<PathBuf>,
    pub(crate) model_schema: Option<String>,
    pub(crate) cql_user: Option<String>,
    pub(crate) cql_password_file: Option<PathBuf>,
    pub(crate) cql_authorizer: Option<String>,
    pub(crate) cql_functions: Option<String>,
    pub(crate) share: Option<String>,
    pub(crate) shared: Option<bool>,
    pub(crate) cql_tls_certificate: Option<PathBuf>,
    pub(crate) cql_tls_key: Option<PathBuf>,
    pub(crate) ready_file: Option<PathBuf>,
    pub(crate) durability: Option<String>,
    pub(crate) credentials: Option<PathBuf>,
    pub(crate) insecure: Option<bool>,
    pub(crate) cors: Option<Vec<String>>,
    #[serde(default, deserialize_with = "size")]
    pub(crate) disk_free_min: Option<u64>,
    #[serde(default, deserialize_with = "limit")]
    pub(crate) memory_limit: Option<u64>,
    pub(crate) buckets: Option<PathBuf>,
    pub(crate) log: Option<String>,
    pub(crate) log_format: Option<String>,
}

/// Parses a size as the flags do: text, or a plain number of bytes.
fn size<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }
    match Written::deserialize(value)? {
        Written::Number(bytes) => Ok(Some(bytes)),
        Written::Text(text) => crate::size::size(&text).map(Some).map_err(D::Error::custom),
    }
}

/// Parses a limit of memory as the flags do.
fn limit<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    size(value)?.map(|bytes| memory::enough(bytes).map_err(D::Error::custom)).transpose()
}

/// Parses an address as the flags do.
fn address<'de, D: Deserializer<'de>>(value: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(value)?;
    arguments::address(&text).map(Some).map_err(D::Error::custom)
}

/// The form of a setting's text in the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Switch,
    Number,
    /// Several, with commas between them.
    List,
}

/// Every setting, its form, and what holds where it is not set.
const SETTINGS: [(&str, Form, &str); 35] = [
    ("data", Form::Text, "./shelfmark-data"),
    ("memory", Form::Switch, "false"),
    ("engine", Form::Text, ""),
    ("engine_tls_ca", Form::Text, ""),
    ("engine_tls_certificate", Form::Text, ""),
    ("engine_tls_key", Form::Text, ""),
    ("dynamodb", Form::Text, "127.0.0.1:8000"),
    ("dynamodb_tls_certificate", Form::Text, ""),
    ("dynamodb_tls_key", Form::Text, ""),
    ("cql", Form::Text, "127.0.0.1:9042, if it is free"),
    ("cql_user", Form::Text, ""),
    ("cql_password_file", Form::Text, ""),
    ("cql_authorizer", Form::Text, "CassandraAuthorizer with cql_user, else AllowAllAuthorizer"),
    ("cql_functions", Form::Text, "on"),
    ("cql_tls_certificate", Form::Text, ""),
    ("cql_tls_key", Form::Text, ""),
    ("console", Form::Text, ""),
    ("console_token_file", Form::Text, ""),
    ("slow_after", Form::Number, "100"),
    ("traces", Form::Text, ""),
    ("traces_one_in", Form::Number, "1"),
    ("model", Form::Text, ""),
    ("model_schema", Form::Text, "the only one for DynamoDB or CQL"),
    ("share", Form::Text, "read, or none where one face alone asks who its clients are"),
    ("shared", Form::Switch, "false"),
    ("ready_file", Form::Text, ""),
    ("durability", Form::Text, "sync"),
    ("credentials", Form::Text, ""),
    ("insecure", Form::Switch, "false"),
    ("cors", Form::List, ""),
    ("disk_free_min", Form::Text, "256MiB"),
    ("memory_limit", Form::Text, "half of what the machine or its control group has"),
    ("buckets", Form::Text, ""),
    ("log", Form::Text, "info"),
    ("log_format", Form::Text, "text"),
];

/// The place that a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => write!(f, "default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A setting as `shelfmark config` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    /// The value that holds; empty for none.
    pub(crate) value: String,
    pub(crate) source: Source,
    /// The places where it is set as well and loses, with their values.
    pub(crate) hidden: Vec<(Source, String)>,
}

/// All settings: parsed, and one by one with where they come from.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) each: Vec<Setting>,
    /// Variables of the environment that look like settings and are none.
    pub(crate) unknown: Vec<String>,
}

/// Reads the settings of a server with these flags.
pub(crate) fn of(flags: &Serve) -> anyhow::Result<Settings> {
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok().filter(|name| name.starts_with(PREFIX))?;
        Some((name, value.into_string()))
    });
    let mut environment = Vec::new();
    for (name, value) in variables {
        environment.push((name.clone(), value.map_err(|_| anyhow!("{name} is not UTF-8"))?));
    }
    from(flags, &environment)
}

fn from(flags: &Serve, environment: &[(String, String)]) -> anyhow::Result<Settings> {
    let named = environment.iter().find(|(name, _)| name == "SHELFMARK_CONFIG");
    let path = flags.config.clone().or(named.map(|(_, path)| PathBuf::from(path)));
    let file = path.as_deref().map(file).transpose()?.unwrap_or_default();
    let (environment, unknown) = variables(environment)?;
    let flags = flag_table(flags)?;
    let (mut all, mut each) = (Table::new(), Vec::new());
    for (name, _, default) in SETTINGS {
        let variable = variable(name);
        let place = || path.clone().unwrap_or_default();
        let layers = [
            (flags.get(name), Source::Flag(format!("--{}", name.replace('_', "-")))),
            (environment.get(name), Source::Environment(variable)),
            (file.get(name), Source::File(place())),
        ];
        let mut set = layers.into_iter().filter_map(|(value, source)| Some((value?, source)));
        let Some((value, source)) = set.next() else {
            let (value, source) = (default.to_owned(), Source::Default);
            each.push(Setting { name, value, source, hidden: Vec::new() });
            continue;
        };
        let hidden = set.map(|(value, source)| (source, text_of(value))).collect();
        each.push(Setting { name, value: text_of(value), source, hidden });
        all.insert(name.to_owned(), value.clone());
    }
    Ok(Settings { config: Config::deserialize(all)?, each, unknown })
}

/// Returns the name of a setting's environment variable.
fn variable(name: &str) -> String {
    format!("{PREFIX}{}", name.to_ascii_uppercase())
}

fn file(path: &Path) -> anyhow::Result<Table> {
    let shown = path.display();
    let text = vfs::read(path).with_context(|| format!("cannot read {shown}"))?;
    if text.len() > FILE_BYTES_MAX {
        bail!("{shown} is no configuration: it has more than {FILE_BYTES_MAX} bytes");
    }
    let text = String::from_utf8(text).with_context(|| format!("{shown} is not UTF-8"))?;
    // Parsed as a whole first: then a message names the line.
    let wrong = || format!("{shown} has a wrong setting");
    toml::from_str::<Config>(&text).with_context(wrong)?;
    toml::from_str(&text).with_context(wrong)
}

/// Returns the settings of the environment, and the names of variables that are none.
fn variables(environment: &[(String, String)]) -> anyhow::Result<(Table, Vec<String>)> {
    /// Variables that are read, and are no settings.
    const OTHERS: [&str; 2] = ["SHELFMARK_CONFIG", "SHELFMARK_CONSOLE_TOKEN"];
    let (mut table, mut unknown) = (Table::new(), Vec::new());
    for (variable_name, text) in environment {
        let found = SETTINGS.into_iter().find(|(name, ..)| variable(name) == *variable_name);
        let Some((name, form, _)) = found else {
            if !OTHERS.contains(&variable_name.as_str()) {
                unknown.push(variable_name.clone());
            }
            continue;
        };
        // Set to nothing is not set, as in files of units and containers.
        if text.is_empty() {
            continue;
        }
        let value = value_of(form, text)
            .with_context(|| format!("the environment variable {variable_name} is wrong"))?;
        let mut one = Table::new();
        one.insert(name.to_owned(), value.clone());
        Config::deserialize(one)
            .with_context(|| format!("the environment variable {variable_name} is wrong"))?;
        table.insert(name.to_owned(), value);
    }
    unknown.sort();
    Ok((table, unknown))
}

fn value_of(form: Form, text: &str) -> anyhow::Result<Value> {
    Ok(match form {
        Form::Text => Value::String(text.to_owned()),
        Form::Switch => match text {
            "true" | "1" | "yes" => Value::Boolean(true),
            "false" | "0" | "no" => Value::Boolean(false),
            _ => bail!("it is true or false, not {text:?}"),
        },
        Form::Number => {
            Value::Integer(text.parse().map_err(|_| anyhow!("it is a whole number, not {text:?}"))?)
        }
        Form::List => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            Value::Array(parts.map(|part| Value::String(part.to_owned())).collect())
        }
    })
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(is) => is.to_string(),
        Value::Array(values) => values.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => format!("{other:?}"),
    }
}

/// Collects the flags that are given.
struct Flags(Table);

impl Flags {
    fn text(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), Value::String(value.to_string()));
        }
    }

    fn path(&mut self, name: &str, value: Option<&Path>) -> anyhow::Result<()> {
        let text = value
            .map(|path| path.to_str().with_context(|| format!("{} is not UTF-8", path.display())));
        self.text(name, text.transpose()?);
        Ok(())
    }

    fn number(&mut self, name: &str, value: Option<u64>) -> anyhow::Result<()> {
        if let Some(value) = value {
            let number = i64::try_from(value).with_context(|| format!("{name} is too large"))?;
            self.0.insert(name.to_owned(), Value::Integer(number));
        }
        Ok(())
    }

    /// Adds a switch that is given; one that is not leaves it to the other layers.
    fn switch(&mut self, name: &str, is_given: bool) {
        if is_given {
            self.0.insert(name.to_owned(), Value::Boolean(true));
        }
    }
}

fn flag_table(serve: &Serve) -> anyhow::Result<Table> {
    let mut flags = Flags(Table::new());
    let paths = [
        ("data", &serve.data),
        ("engine_tls_ca", &serve.engine_tls_ca),
        ("engine_tls_certificate", &serve.engine_tls_certificate),
        ("engine_tls_key", &serve.engine_tls_key),
        ("dynamodb_tls_certificate", &serve.dynamodb_tls_certificate),
        ("dynamodb_tls_key", &serve.dynamodb_tls_key),
        ("console_token_file", &serve.console_token_file),
        ("model", &serve.model),
        ("cql_password_file", &serve.cql_password_file),
        ("cql_tls_certificate", &serve.cql_tls_certificate),
        ("cql_tls_key", &serve.cql_tls_key),
        ("ready_file", &serve.ready_file),
        ("credentials", &serve.credentials),
        ("buckets", &serve.buckets),
    ];
    for (name, path) in paths {
        flags.path(name, path.as_deref())?;
    }
    flags.text("dynamodb", serve.dynamodb);
    flags.text("cql", serve.cql);
    flags.text("console", serve.console);
    flags.text("engine", serve.engine.as_deref());
    flags.text("cql_user", serve.cql_user.as_deref());
    flags.text("cql_authorizer", serve.cql_authorizer.as_deref());
    flags.text("cql_functions", serve.cql_functions.as_deref());
    flags.text("model_schema", serve.model_schema.as_deref());
    flags.text("share", serve.share.as_deref());
    flags.text("durability", serve.durability.as_deref());
    flags.text("log", serve.log.as_deref());
    flags.text("log_format", serve.log_format.as_deref());
    flags.number("slow_after", serve.slow_after)?;
    flags.text("traces", serve.traces.as_deref());
    flags.number("traces_one_in", serve.traces_one_in)?;
    flags.number("disk_free_min", serve.disk_free_min)?;
    flags.number("memory_limit", serve.memory_limit)?;
    flags.switch("memory", serve.memory);
    flags.switch("shared", serve.shared);
    flags.switch("insecure", serve.insecure);
    if !serve.cors.is_empty() {
        let origins = serve.cors.iter().cloned().map(Value::String).collect();
        flags.0.insert("cors".to_owned(), Value::Array(origins));
    }
    Ok(flags.0)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn serve(flags: &[&str]) -> Box<Serve> {
        let words = ["shelfmark", "serve"].iter().chain(flags);
        match Arguments::parse_from(words).command {
            Command::Serve(serve) => serve,
            other => panic!("{other:?}"),
        }
    }

    fn environment(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn flags_win_over_the_environment_and_that_over_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shelfmark.toml");
        let text = "share = \"none\"\nlog = \"warn\"\nmemory = true\ndisk_free_min = \"1GB\"\n";
        vfs::replace(&path, text.as_bytes()).unwrap();
        let path = path.to_str().unwrap();
        let variables = environment(&[
            ("SHELFMARK_SHARE", "read"),
            ("SHELFMARK_LOG", "debug"),
            ("SHELFMARK_CONFIG", path),
            ("SHELFMARK_CORS", "http://a, http://b"),
            ("SHELFMARK_BUCKETS", ""),
            ("SHELFMARK_SHAER", "all"),
        ]);
        let settings = from(&serve(&["--share", "all"]), &variables).unwrap();
        let of = |name| settings.each.iter().find(|own| own.name == name).unwrap();
        assert_eq!(of("share").value, "all");
        assert_eq!(of("share").source.to_string(), "flag --share");
        let hidden: Vec<&str> = of("share").hidden.iter().map(|(_, value)| &**value).collect();
        assert_eq!(hidden, ["read", "none"]);
        assert_eq!(of("log").source.to_string(), "environment SHELFMARK_LOG");
        assert_eq!(of("memory").source.to_string(), format!("file {path}"));
        assert_eq!(of("buckets").source, Source::Default);
        assert_eq!(settings.unknown, ["SHELFMARK_SHAER"]);
        let config = settings.config;
        assert_eq!((config.share.as_deref(), config.memory), (Some("all"), Some(true)));
        assert_eq!(config.disk_free_min, Some(1_000_000_000));
        assert_eq!(config.cors, Some(vec!["http://a".to_owned(), "http://b".to_owned()]));
    }

    #[test]
    fn a_wrong_setting_is_named_with_its_place() {
        let cases = [
            ("SHELFMARK_MEMORY", "perhaps", "true or false"),
            ("SHELFMARK_SLOW_AFTER", "soon", "whole number"),
            ("SHELFMARK_CQL", "nowhere", "IP address"),
            ("SHELFMARK_MEMORY_LIMIT", "much", "MiB"),
            ("SHELFMARK_CONFIG", "/none", "/none"),
        ];
        for (name, value, part) in cases {
            let error = from(&serve(&[]), &environment(&[(name, value)])).unwrap_err();
            let error = format!("{error:#}");
            assert!(error.contains(part), "{error}");
            assert!(name == "SHELFMARK_CONFIG" || error.contains(name), "{error}");
        }
    }

    /// Checks that a new flag is a setting as well.
    #[test]
    fn every_flag_of_serve_is_a_setting() {
        let command = Arguments::command();
        let serve = command.find_subcommand("serve").unwrap();
        let flags = serve.get_arguments().map(|own| own.get_id().as_str().to_owned());
        let mut flags: Vec<String> =
            flags.filter(|own| !["config", "help", "version"].contains(&own.as_str())).collect();
        let mut settings: Vec<String> =
            SETTINGS.iter().map(|(name, ..)| (*name).to_owned()).collect();
        flags.sort();
        settings.sort();
        assert_eq!(flags, settings);
    }
}
