"""Measures this build's CQL port against Apache Cassandra, both in turns in one run, and prints the
table of docs/benchmarks.md.

    load/compare_cql.py CASSANDRA_LIBRARIES [--seconds N] [--turns N]

CASSANDRA_LIBRARIES is the folder that `mvn --file clients/cassandra/pom.xml dependency:copy-dependencies
-DoutputDirectory=FOLDER` fills. Needs `cargo build --release --package shelfmark-cli` and `cargo build
--release --manifest-path load/cql/Cargo.toml`, both with the same target folder.

Cassandra runs with its own defaults: it answers a write before it syncs it (`periodic`), or after,
many writers together (`batch`). Shelfmark always syncs before it answers.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
sys.path.insert(0, str(ROOT / "clients" / "cassandra"))
import start as cassandra  # noqa: E402  (beside the oracle)

HEAP = "2G"
# Its compiler needs a while.
WARM_UP_SECONDS = 30
# A server is quiet when it takes less than this share of one core, looked at for so long.
SETTLED_SHARE = 0.05
SETTLE_LOOK_SECONDS = 0.5
SETTLE_SECONDS_MAX = 20

# Name, operation, requests under way, against which sync, at least how many times as fast.
ROWS = [
    ("point read, 64 in flight", "select", 64, "periodic", 2.5),
    ("point read, 256 in flight", "select", 256, "periodic", 2.0),
    ("read of 100 rows, 64 in flight", "range", 64, "periodic", 3.0),
    ("conditional write, 64 in flight", "lwt", 64, "periodic", 8.0),
    ("write, 64 in flight", "insert", 64, "periodic", 1.2),
    ("write, 256 in flight", "insert", 256, "periodic", 1.5),
    ("write, 64 in flight, it syncs too", "insert", 64, "batch", 5.0),
    ("write, 256 in flight, it syncs too", "insert", 256, "batch", 5.0),
]


class Server:
    def __init__(self, process, port):
        self.process, self.port = process, port

    def ask(self, operation, in_flight=64, seconds=1.0, warm_up=1.0):
        command = [TARGET / "shelfmark-load-cql", operation, "--endpoint", f"127.0.0.1:{self.port}",
                   "--in-flight", in_flight, "--seconds", seconds, "--warm-up", warm_up,
                   "--process", self.process]
        out = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
        answer = json.loads(out.stdout) if out.stdout else {}
        if answer.get("failed"):
            sys.exit(f"{operation}: {answer['failed']} requests failed: {answer['error']}")
        return answer

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self):
        """Waits until the server has ended what it does behind its answers, at most for a while: on
        the same cores it would be done at the expense of the other one."""
        until = time.monotonic() + SETTLE_SECONDS_MAX
        while time.monotonic() < until:
            before = self.cpu_seconds()
            time.sleep(SETTLE_LOOK_SECONDS)
            if self.cpu_seconds() - before < SETTLED_SHARE * SETTLE_LOOK_SECONDS:
                return

    def stop(self):
        os.kill(self.process, signal.SIGTERM)


def start_shelfmark(folder):
    ready = folder / "ready.json"
    command = [TARGET / "shelfmark", "serve", "--data", folder / "data", "--cql", "127.0.0.1:0",
               "--dynamodb", "127.0.0.1:0", "--ready-file", ready]
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    while not ready.exists():
        time.sleep(0.01)
    address = json.loads(ready.read_text())["cql"]
    return Server(process.pid, int(address.rsplit(":", 1)[1]))


def start_cassandra(libraries, folder, sync, port):
    return Server(cassandra.start(libraries, folder / sync, port, HEAP, measured=sync), port)


def measure(servers, row, seconds, turns):
    """Both servers in turns, so that a machine that is shared is as slow for one as for the other."""
    _, operation, in_flight, _, _ = row
    seen = {name: [] for name in servers}
    for _ in range(turns):
        for name, server in servers.items():
            seen[name].append(server.ask(operation, in_flight, seconds))
            server.settle()
    return {name: (sum(one["per_second"] for one in answers) / len(answers),
                   max(one["p99_micros"] for one in answers))
            for name, answers in seen.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("libraries")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print("| work | Cassandra /s | Shelfmark /s | ratio | at least | p99, Cassandra, Shelfmark |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        ours = start_shelfmark(folder)
        ours.ask("setup")
        for number, sync in enumerate(("periodic", "batch")):
            theirs = start_cassandra(options.libraries, folder, sync, 19742 + 10 * number)
            theirs.ask("setup")
            rows = [row for row in ROWS if row[3] == sync]
            for operation in {row[1] for row in rows}:
                theirs.ask(operation, seconds=WARM_UP_SECONDS)
            theirs.settle()
            for row in rows:
                found = measure({"cassandra": theirs, "shelfmark": ours}, row, options.seconds, options.turns)
                (slow, slow_p99), (fast, fast_p99) = found["cassandra"], found["shelfmark"]
                print(f"| {row[0]} | {slow:.0f} | {fast:.0f} | {fast / slow:.1f} | {row[4]} | "
                      f"{slow_p99} / {fast_p99} µs |", flush=True)
            theirs.stop()
        ours.stop()


if __name__ == "__main__":
    main()
