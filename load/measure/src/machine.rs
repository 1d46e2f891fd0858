//! What CPU and memory the server and this program take. Linux only; elsewhere all is 0.

/// CPU seconds so far.
pub(crate) struct Usage {
    pub(crate) server: f64,
    pub(crate) client: f64,
    pub(crate) server_megabytes: f64,
}

impl Usage {
    pub(crate) fn now(server: Option<u32>) -> Self {
        Self {
            server: server.map_or(0.0, |process| cpu_seconds(&process.to_string())),
            client: cpu_seconds("self"),
            server_megabytes: server.map_or(0.0, |process| megabytes(&process.to_string())),
        }
    }

    pub(crate) fn since(self, before: &Self) -> Self {
        Self { server: self.server - before.server, client: self.client - before.client, ..self }
    }
}

/// User and system time of all threads of a process.
fn cpu_seconds(process: &str) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything; what follows it is counted from field 3.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

fn megabytes(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = resident.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}
