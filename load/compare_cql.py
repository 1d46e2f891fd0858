"""Measures this build's CQL port against Apache Cassandra, both in turns in one run, and prints the
table of docs/benchmarks.md.

    load/compare_cql.py CASSANDRA_LIBRARIES [--seconds N] [--turns N] [--only OPERATION]

CASSANDRA_LIBRARIES is the folder that `mvn --file clients/cassandra/pom.xml dependency:copy-dependencies
-DoutputDirectory=FOLDER` fills. Needs `cargo build --release --package shelfmark-cli` and `cargo build
--release --manifest-path load/Cargo.toml`, both with the same target folder.

Cassandra runs with its own defaults: it answers a write before it syncs it (`periodic`), or after,
many writers together (`batch`). Shelfmark always syncs before it answers. Medians of the turns, with
the least and the greatest.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile

from turns import ROOT, Server, in_turns, spread, start_shelfmark

sys.path.insert(0, str(ROOT / "clients" / "cassandra"))
import start as cassandra  # noqa: E402  (beside the oracle)

GENERATOR = "shelfmark-load-cql"
HEAP = "2G"
# Its compiler needs a while.
WARM_UP_SECONDS = 20
OPEN_LOOP_RATE = 2000

# Name, operation, requests under way, against which sync, at least how many times as fast.
ROWS = [
    ("point read, 64 in flight", "select", 64, "periodic", 2.5),
    ("point read, 256 in flight", "select", 256, "periodic", 2.3),
    ("read of 100 rows, 64 in flight", "range", 64, "periodic", 5.0),
    ("conditional write, 64 in flight", "lwt", 64, "periodic", 10.0),
    ("counter, 64 in flight", "counter", 64, "periodic", 3.5),
    ("write, 64 in flight", "insert", 64, "periodic", 1.5),
    ("write, 256 in flight", "insert", 256, "periodic", 1.9),
    ("update of two columns, 64 in flight", "update", 64, "periodic", 1.3),
    ("write of some columns, 64 in flight", "partial", 64, "periodic", 1.3),
    ("write with a TTL, 64 in flight", "ttl", 64, "periodic", 1.5),
    ("batch of 25, 64 in flight", "batch", 64, "periodic", 2.5),
    ("map and set, 64 in flight", "collection", 64, "periodic", 1.2),
    ("indexed table, 64 in flight", "indexed", 64, "periodic", 1.2),
    ("write, 64 in flight, it syncs too", "insert", 64, "batch", 6.0),
    ("write, 256 in flight, it syncs too", "insert", 256, "batch", 6.0),
]


def start_cassandra(libraries, folder, sync, port):
    return Server(cassandra.start(libraries, folder / sync, port, HEAP, measured=sync), port, GENERATOR)


def print_row(row, seen):
    name, _, _, _, least = row
    per_second = {who: [one["per_second"] for one in answers] for who, answers in seen.items()}
    late = {who: statistics.median(one["p99_micros"] for one in answers) / 1000
            for who, answers in seen.items()}
    ratio = statistics.median(per_second["shelfmark"]) / statistics.median(per_second["cassandra"])
    print(f"| {name} | {spread(per_second['cassandra'])} | {spread(per_second['shelfmark'])} | "
          f"{ratio:.1f} | {least} | {late['cassandra']:.1f} / {late['shelfmark']:.1f} ms |", flush=True)


def print_open_loop(servers, options):
    """Inserts at moments that are given beforehand, so that an answer that is late shows."""
    seen = {who: [] for who in servers}
    for _ in range(options.turns):
        for who, server in servers.items():
            answer = server.ask("insert", "--rate", OPEN_LOOP_RATE, seconds=5 * options.seconds)
            seen[who].append(answer["p99_micros"] / 1000)
            server.settle()
    print(f"\np99 of {OPEN_LOOP_RATE} inserts a second in open loop, both sync: Cassandra "
          f"{spread(seen['cassandra'], 1)} ms, Shelfmark {spread(seen['shelfmark'], 1)} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("libraries")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", action="append", help="an operation; may be given more than once")
    options = parser.parse_args()
    print("| work | Cassandra /s | Shelfmark /s | ratio | at least | p99, Cassandra, Shelfmark |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        ours = start_shelfmark(folder, "cql", GENERATOR)
        ours.ask("setup")
        for number, sync in enumerate(("periodic", "batch")):
            rows = [row for row in ROWS if row[3] == sync and row[1] in (options.only or row[1])]
            if not rows:
                continue
            theirs = start_cassandra(options.libraries, folder, sync, 19742 + 10 * number)
            theirs.ask("setup")
            for operation in {row[1]: None for row in rows}:
                theirs.ask(operation, seconds=WARM_UP_SECONDS)
            theirs.settle()
            servers = {"cassandra": theirs, "shelfmark": ours}
            for row in rows:
                print_row(row, in_turns(servers, row[1], row[2], options.seconds, options.turns))
            if sync == "batch":
                print_open_loop(servers, options)
            theirs.stop()
        ours.stop()


if __name__ == "__main__":
    main()
