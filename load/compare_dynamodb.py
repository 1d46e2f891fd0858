"""Measures this build's DynamoDB port against DynamoDB Local and dynoxide, in turns in one run, and
prints the tables of docs/benchmarks.md.

    load/compare_dynamodb.py LIBRARIES DYNOXIDE [--seconds N] [--turns N]

LIBRARIES is the folder that `mvn --file clients/dynamodb-local/pom.xml dependency:copy-dependencies
-DoutputDirectory=FOLDER` fills, DYNOXIDE the program that `cargo install dynoxide-rs --locked` builds.
Needs `cargo build --release --package shelfmark-cli` and `cargo build --release --manifest-path
load/Cargo.toml`, both with the same target folder.

All keep their tables on disk. Shelfmark syncs before every answer; the others do as they do by
default. Medians of the turns, with the least and the greatest.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from turns import ROOT, Server, in_turns, spread, start_shelfmark

sys.path.insert(0, str(ROOT / "clients" / "dynamodb-local"))
import start as dynamodb_local  # noqa: E402  (beside the differential run)

GENERATOR = "shelfmark-load-dynamodb"
HEAP = "1g"
# The compiler of DynamoDB Local needs a while.
WARM_UP_SECONDS = 10
SIZES = ("--items", "20000", "--partitions", "200")

# Name, operation, at least how many times as fast as the better one; at most which share of
# dynoxide's median time over one connection.
ROWS = [
    ("GetItem", "get", 3.0, 0.65),
    ("PutItem", "put", 8.0, 0.6),
    ("Query of 100 items", "query", 5.0, 0.4),
    ("TransactWriteItems of 4", "transact", 10.0, 0.5),
    ("BatchWriteItem of 25", "batch", 30.0, None),
    ("BatchGetItem of 25", "batch-get", None, None),
    ("UpdateItem", "update", None, None),
]


class Sized(Server):
    """A server whose table has the sizes of this comparison."""

    def ask(self, operation, *options, **timing):
        return super().ask(operation, *SIZES, *options, **timing)


def start_dynoxide(program, folder, port):
    command = [program, "--host", "127.0.0.1", "--port", str(port), "--db-path", folder / "dynoxide.db"]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    while not dynamodb_local.answers(port):
        time.sleep(0.05)
    return Sized(process.pid, port, GENERATOR)


def start_all(options, folder):
    ours = start_shelfmark(folder / "shelfmark", "dynamodb", GENERATOR)
    local = dynamodb_local.start(options.libraries, folder / "local", 19842, HEAP, measured=True)
    return {
        "shelfmark": Sized(ours.process, ours.port, GENERATOR),
        "local": Sized(local, 19842, GENERATOR),
        "dynoxide": start_dynoxide(options.dynoxide, folder, 19852),
    }


def print_throughput(servers, options):
    print("| work, 32 connections | DynamoDB Local /s | dynoxide /s | Shelfmark /s | of the better | at least |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, operation, least, _ in ROWS:
        seen = in_turns(servers, operation, 32, options.seconds, options.turns)
        rates = {who: [one["per_second"] for one in answers] for who, answers in seen.items()}
        middle = {who: statistics.median(values) for who, values in rates.items()}
        ratio = middle["shelfmark"] / max(middle["local"], middle["dynoxide"])
        print(f"| {name} | {spread(rates['local'])} | {spread(rates['dynoxide'])} | "
              f"{spread(rates['shelfmark'])} | {ratio:.1f} | {least or '–'} |", flush=True)


def print_latency(servers, options):
    pair = {who: servers[who] for who in ("dynoxide", "shelfmark")}
    print("\n| work, one connection | dynoxide p50 | Shelfmark p50 | share | at most |")
    print("| --- | --- | --- | --- | --- |")
    for name, operation, _, most in ROWS:
        if most is None:
            continue
        seen = in_turns(pair, operation, 1, options.seconds, options.turns)
        times = {who: [one["p50_micros"] for one in answers] for who, answers in seen.items()}
        share = statistics.median(times["shelfmark"]) / statistics.median(times["dynoxide"])
        print(f"| {name} | {spread(times['dynoxide'])} µs | {spread(times['shelfmark'])} µs | "
              f"{share:.2f} | {most} |", flush=True)


def print_streams(ours, options):
    """Writes with a stream on beside writes without one, and how late a reader is behind them."""
    ours.ask("setup", "--table", "streamed", "--stream")
    plain, streamed = [], []
    for _ in range(options.turns):
        plain.append(ours.ask("put", in_flight=32, seconds=options.seconds)["per_second"])
        ours.settle()
        put = ours.ask("put", "--table", "streamed", in_flight=32, seconds=options.seconds)
        streamed.append(put["per_second"])
        ours.settle()
    share = statistics.median(streamed) / statistics.median(plain)
    late = ours.ask("follow", "--table", "streamed", "--rate", "5000", in_flight=32, seconds=10)
    print("\n| streams | figure | target |")
    print("| --- | --- | --- |")
    print(f"| PutItem without a stream, with both images | {spread(plain)}, {spread(streamed)}: "
          f"{share:.2f} | 0.8 |")
    print(f"| a reader that follows {late['written_per_second']:.0f} writes a second: p50, p99, most | "
          f"{late['late_p50_micros'] / 1000:.1f}, {late['late_p99_micros'] / 1000:.1f}, "
          f"{late['late_max_micros'] / 1000:.1f} ms | 50 ms |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("libraries")
    parser.add_argument("dynoxide")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        servers = start_all(options, pathlib.Path(folder))
        for server in servers.values():
            server.ask("setup")
        for _, operation, _, _ in ROWS:
            servers["local"].ask(operation, in_flight=32, seconds=WARM_UP_SECONDS)
        print_throughput(servers, options)
        print_latency(servers, options)
        print_streams(servers["shelfmark"], options)
        for server in servers.values():
            server.stop()


if __name__ == "__main__":
    main()
