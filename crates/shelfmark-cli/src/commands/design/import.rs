//! `shelfmark design import`: schemas of other tools as models.

use std::path::Path;

use shelfmark_confirm::{describe_cql, describe_dynamodb};
use shelfmark_design_import::{Log, Source, import, import_with_log};

use super::endpoint::CqlServer;
use crate::connect::DynamoDbServer;

use super::{NoModel, print, text_of};
use crate::arguments::DesignSource;

pub(super) fn run(
    file: &Path,
    from: Option<DesignSource>,
    log: Option<&Path>,
    span: Option<&str>,
) -> anyhow::Result<()> {
    let text = text_of(file)?;
    let name =
        file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let from = match from {
        Some(DesignSource::Workbench) => Source::Workbench,
        Some(DesignSource::Cql) => Source::Cql,
        Some(DesignSource::Electrodb) => Source::ElectroDb,
        Some(DesignSource::Onetable) => Source::OneTable,
        Some(DesignSource::Prisma) => Source::Prisma,
        Some(DesignSource::Sql) => Source::Sql,
        None if log.is_some() => Source::Sql,
        None => Source::of(&name, &text),
    };
    let model = match log {
        None => import(&name, &text, from),
        Some(log) if from == Source::Sql => {
            let log = text_of(log)?;
            let span_seconds = span.map(seconds).transpose()?;
            import_with_log(&name, &text, Log { text: &log, span_seconds })
        }
        Some(_) => {
            return Err(NoModel::call("--log goes with SQL tables: --from sql".to_owned()));
        }
    };
    // A place in the text goes behind its name, as editors take it.
    let model = model.map_err(|error| NoModel::call(format!("{}:{error}", file.display())))?;
    print(&model)
}

/// Returns the address of a live server, if that stands where a file may.
pub(super) fn server(file: &Path) -> Option<String> {
    let text = file.to_str()?;
    let live = text.starts_with("dynamodb://") || text.starts_with("cql://");
    live.then(|| text.to_owned())
}

/// Prints the model of a live server's tables.
pub(super) fn live(url: &str, tls_ca: Option<&Path>) -> anyhow::Result<()> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (host, name) = match rest.trim_end_matches('/').split_once('/') {
        Some((host, name)) => (host, Some(name)),
        None => (rest.trim_end_matches('/'), None),
    };
    let address = format!("{scheme}://{host}");
    let (described, from) = if scheme == "cql" {
        (describe_cql(&CqlServer::at(&address, tls_ca)?, name), Source::Cql)
    } else {
        let server = DynamoDbServer::at(&address, tls_ca)?;
        (describe_dynamodb(&server, name), Source::Workbench)
    };
    let described = described.map_err(|why| anyhow::anyhow!("{address}: {why}"))?;
    let model = import(url, &described, from);
    print(&model.map_err(|error| NoModel::call(format!("{url}:{error}")))?)
}

/// Returns the seconds of `90s`, `15m`, `1h`, `7d`.
fn seconds(text: &str) -> anyhow::Result<f64> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    let found = units.into_iter().find_map(|(unit, seconds)| {
        let number = text.strip_suffix(unit)?.parse::<f64>().ok()?;
        (number > 0.0 && number.is_finite()).then_some(number * seconds)
    });
    let message = || format!("{text:?} is no time; write 90s, 15m, 1h or 7d");
    found.ok_or_else(|| NoModel::call(message()))
}
