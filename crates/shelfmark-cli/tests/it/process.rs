//! Running the command, and a server whose process ends with the test.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs the command to its end.
pub(crate) fn shelfmark(arguments: &[&str]) -> Output {
    command().args(arguments).output().unwrap()
}

/// Returns the command, not started yet.
pub(crate) fn command() -> Command {
    Command::new(binary())
}

/// Returns the path of the command: this build's, or another one that is to be tried.
fn binary() -> String {
    let other = std::env::var("SHELFMARK_BINARY");
    other.unwrap_or_else(|_| env!("CARGO_BIN_EXE_shelfmark").to_owned())
}

/// Returns what a run printed to standard output.
pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns what a run printed to standard error.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A running server.
pub(crate) struct Server {
    process: Child,
    /// Where DynamoDB clients connect.
    pub(crate) address: String,
    /// Where CQL clients connect; empty when another program has the port that nobody chose.
    pub(crate) cql: String,
}

impl Server {
    /// Starts a server over a folder and waits until it answers.
    pub(crate) fn start(folder: &Path) -> Self {
        Self::start_with(folder, &["--dynamodb", "127.0.0.1:0"])
    }

    /// Starts a server over a folder whose CQL port is its own.
    pub(crate) fn start_cql(folder: &Path, flags: &[&str]) -> Self {
        let free = ["--dynamodb", "127.0.0.1:0", "--cql", "127.0.0.1:0"];
        Self::start_with(folder, &[&free, flags].concat())
    }

    /// Starts a server over a folder, with flags that say where it listens.
    pub(crate) fn start_with(folder: &Path, flags: &[&str]) -> Self {
        Self::start_by(command(), folder, flags)
    }

    /// Starts a server whose data may take so many KiB, and no more.
    pub(crate) fn start_under(data_kib_max: u64, folder: &Path, flags: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        let limited = format!("ulimit -d {data_kib_max}; exec \"$0\" \"$@\"");
        shell.args(["-c", &limited, &binary()]);
        let free = ["--dynamodb", "127.0.0.1:0", "--cql", "127.0.0.1:0"];
        Self::start_by(shell, folder, &[&free, flags].concat())
    }

    fn start_by(mut command: Command, folder: &Path, flags: &[&str]) -> Self {
        let ready = folder.join("ready.json");
        let _ = std::fs::remove_file(&ready);
        let process = command
            .args(["serve", "--data"])
            .arg(folder.join("store"))
            .args(flags)
            .arg("--ready-file")
            .arg(&ready)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        while Instant::now() < deadline {
            if let Ok(text) = std::fs::read_to_string(&ready) {
                let json: serde_json::Value = serde_json::from_str(&text).unwrap();
                let address = json["dynamodb"].as_str().unwrap().to_owned();
                let cql = json["cql"].as_str().unwrap_or_default().to_owned();
                return Self { process, address, cql };
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the server was not ready in time");
    }

    /// Returns the number of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Sends the process a signal, such as `-STOP`.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Stops the process; returns when the last of its threads stands.
    ///
    /// The signal is on its way when `kill` returns: on a busy machine a thread may still answer.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
        let stands = |task: std::fs::DirEntry| {
            // The state is the first word behind the name, which stands in parentheses.
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
        };
        let tasks = format!("/proc/{}/task", self.id());
        while !std::fs::read_dir(&tasks).unwrap().all(|task| stands(task.unwrap())) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Sends raw bytes on a connection of their own and returns what comes back.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // The server may close before it has read everything: that is an answer, too.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    /// Sends one operation and returns status and body.
    pub(crate) fn call(&self, operation: &str, body: &str) -> (u16, String) {
        let request = format!(
            "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Amz-Target: \
             DynamoDB_20120810.{operation}\r\nContent-Type: application/x-amz-json-1.0\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = String::from_utf8(self.raw(request.as_bytes())).unwrap();
        let status = answer.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status, body.to_owned())
    }

    /// Creates a table with text keys `pk` and `sk`.
    pub(crate) fn create_table(&self, name: &str) {
        let (status, body) = self.call(
            "CreateTable",
            &format!(
                r#"{{"TableName":"{name}","BillingMode":"PAY_PER_REQUEST",
                "AttributeDefinitions":[{{"AttributeName":"pk","AttributeType":"S"}},
                {{"AttributeName":"sk","AttributeType":"S"}}],
                "KeySchema":[{{"AttributeName":"pk","KeyType":"HASH"}},
                {{"AttributeName":"sk","KeyType":"RANGE"}}]}}"#
            ),
        );
        assert_eq!(status, 200, "{body}");
    }

    /// Puts an item with these keys.
    pub(crate) fn put(&self, table: &str, pk: &str, sk: &str) {
        let body = format!(
            r#"{{"TableName":"{table}","Item":{{"pk":{{"S":"{pk}"}},"sk":{{"S":"{sk}"}}}}}}"#
        );
        assert_eq!(self.call("PutItem", &body).0, 200);
    }

    /// Returns the body of a GetItem.
    pub(crate) fn get(&self, table: &str, pk: &str, sk: &str) -> String {
        let body = format!(
            r#"{{"TableName":"{table}","Key":{{"pk":{{"S":"{pk}"}},"sk":{{"S":"{sk}"}}}}}}"#
        );
        let (status, body) = self.call("GetItem", &body);
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Asks the server to stop and returns how it ended.
    pub(crate) fn stop(mut self, signal: &str) -> Output {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let mut output =
            Output { status: self.process.wait().unwrap(), stdout: Vec::new(), stderr: Vec::new() };
        self.process.stdout.take().unwrap().read_to_end(&mut output.stdout).unwrap();
        self.process.stderr.take().unwrap().read_to_end(&mut output.stderr).unwrap();
        output
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
