//! `shelfmark servers`, `shelfmark connections` and `shelfmark slow`: what only a running server knows.

use std::io::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use shelfmark_admin::moment_text;

use crate::arguments::{Connections, RunningServer, Servers, Slow};
use crate::console::ConsoleClient;
use crate::table::print;

fn client(running: &RunningServer) -> anyhow::Result<ConsoleClient> {
    ConsoleClient::new(&running.server, running.console_token_file.as_deref())
}

pub(crate) fn servers(servers: &Servers) -> anyhow::Result<()> {
    let running = &servers.running;
    let all = client(running)?.run(&shelfmark_admin::Servers {})?.servers;
    if running.json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&all)?)?;
        return Ok(());
    }
    let address = |own: Option<SocketAddr>| own.map(|own| own.to_string()).unwrap_or_default();
    let rows = all.into_iter().map(|own| {
        let roles = [(own.leads, "leads"), (own.this, "this one")];
        let roles: Vec<&str> = roles.iter().filter(|(is, _)| *is).map(|(_, word)| *word).collect();
        let renewed = own.renewed_ago_ms.map(Duration::from_millis);
        [
            own.id,
            address(own.dynamodb),
            address(own.cql),
            address(own.console),
            own.since_ms.map(moment_text).unwrap_or_default(),
            own.version.unwrap_or_default(),
            renewed.map(|ago| format!("{} ago", duration_text(ago))).unwrap_or_default(),
            roles.join(", "),
        ]
    });
    let heads =
        ["server", "dynamodb", "cql", "console", "since", "version", "lease renewed", "also"];
    print(heads, rows, running.csv)?;
    Ok(())
}

pub(crate) fn connections(connections: &Connections) -> anyhow::Result<()> {
    let running = &connections.running;
    let all = client(running)?.run(&shelfmark_admin::Connections {})?.connections;
    if running.json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&all)?)?;
        return Ok(());
    }
    let word = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let rows = all.into_iter().map(|own| {
        let idle = duration_text(Duration::from_millis(own.idle_ms));
        [own.face, own.address, word(own.busy), word(own.known), idle]
    });
    print(["face", "address", "busy", "known", "idle"], rows, running.csv)?;
    Ok(())
}

pub(crate) fn slow(slow: &Slow) -> anyhow::Result<()> {
    let running = &slow.running;
    let answer = client(running)?.run(&shelfmark_admin::Slow { limit: slow.limit })?;
    if running.json {
        writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(&answer.requests)?)?;
        return Ok(());
    }
    if answer.requests.is_empty() && !running.csv {
        let after = answer.slow_after_ms;
        writeln!(std::io::stdout(), "No request took {after} ms or longer, and none was refused.")?;
        return Ok(());
    }
    let rows = answer.requests.into_iter().map(|own| {
        let (read, returned) = (own.report.rows_read, own.report.rows_returned);
        [
            moment_text(own.at_ms),
            own.face,
            own.operation,
            own.table,
            duration_text(Duration::from_micros(own.took_us)),
            read.to_string(),
            returned.to_string(),
            own.refusal.unwrap_or_default(),
        ]
    });
    let heads =
        ["time", "face", "operation", "table", "took", "rows read", "rows returned", "refused"];
    print(heads, rows, running.csv)?;
    Ok(())
}

fn duration_text(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1_000.0;
    if ms < 10_000.0 { format!("{ms:.1} ms") } else { format!("{:.0} s", ms / 1_000.0) }
}
