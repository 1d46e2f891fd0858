//! `shelfmark connections` and `shelfmark slow`: what only a running server knows.

use std::io::Write as _;
use std::time::Duration;

use shelfmark_model::text::{date_text, time_text};

use crate::arguments::{Connections, RunningServer, Slow};
use crate::console::ConsoleClient;
use crate::table::print;

fn client(running: &RunningServer) -> anyhow::Result<ConsoleClient> {
    ConsoleClient::new(&running.server, running.console_token_file.as_deref())
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

/// Formats a moment as RFC 3339 does, in UTC.
fn moment_text(ms: u64) -> String {
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    let days = i64::try_from(ms / DAY_MS).unwrap_or_default();
    let nanos = i64::try_from(ms % DAY_MS).unwrap_or_default() * 1_000_000;
    let time = time_text(nanos);
    format!("{}T{}Z", date_text(days), time.get(..12).unwrap_or(&time))
}

fn duration_text(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1_000.0;
    if ms < 10_000.0 { format!("{ms:.1} ms") } else { format!("{:.0} s", ms / 1_000.0) }
}

#[cfg(test)]
mod tests {
    use super::moment_text;

    #[test]
    fn moments_are_written_as_elsewhere() {
        assert_eq!(moment_text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(moment_text(1_795_478_399_007), "2026-11-23T23:59:59.007Z");
    }
}
