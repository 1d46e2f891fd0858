"""Measures servers on a TiKV cluster, against the cluster asked directly and two against one, in turns
in one run, and prints the tables of docs/benchmarks.md.

    load/compare_tikv.py [--seconds N] [--turns N] [--tables direct limited two mixed] …

Starts the test bed (test-bed/tikv/bed), so it needs Go. Needs `cargo build --release --package
shelfmark-cli` and `cargo build --release --manifest-path load/Cargo.toml`, both with the same target
folder.

On one machine servers, clients and the store take the same processors from each other. So there are
control groups with shares of one processor, which need a writable /sys/fs/cgroup/cpu: one for the
store, so that it is the limit as on a cluster whose servers have machines of their own, and, for two
servers against one, one for each server, so that servers are. Without them these tables are left out.
Medians of the turns, with the least and the greatest.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from turns import ROOT, TARGET, Server, spread

GENERATOR = "shelfmark-load-dynamodb"
DIRECT = "shelfmark-load-tikv"
SIZES = ("--items", "20000", "--partitions", "200")
IN_FLIGHT = 64
GROUPS = pathlib.Path("/sys/fs/cgroup/cpu")
PERIOD_MICROS = 20_000
# Name, work of a server, the same asked directly, at least which share of it.
AGAINST = [("GetItem", "get", "get", 0.8), ("Query of 100 items", "query", "page", 0.8)]
# Work of two servers: at least how many times as much as one does.
TOGETHER = [("GetItem", "get", 1.8), ("Query of 100 items", "query", 1.8), ("PutItem", "put", None)]
TABLES = ["direct", "limited", "two", "mixed"]
# A server that has little of a processor is not asked for more at once than it answers in time.
IN_FLIGHT_EACH = 32
# What each of three servers does at once.
MIXED = ["get", "query", "put", "update", "transact"]


class Sized(Server):
    """A server whose table has the sizes of this comparison."""

    def ask(self, operation, *options, **timing):
        return super().ask(operation, *SIZES, *options, **timing)


class Bed:
    """The test bed, and the servers on it."""

    def __init__(self, folder):
        self.folder, self.servers = folder, []
        told = subprocess.run([ROOT / "test-bed" / "tikv" / "bed", "start", folder / "bed"],
                              check=True, capture_output=True, text=True).stdout
        self.placement = json.loads(told.strip().splitlines()[-1])["pd"]

    def serve(self):
        ready = self.folder / f"ready{len(self.servers)}.json"
        command = [TARGET / "shelfmark", "serve", "--engine", f"tikv://{self.placement}",
                   "--dynamodb", "127.0.0.1:0", "--ready-file", ready]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while not ready.exists():
            if process.poll() is not None:
                raise SystemExit("a server did not start")
            time.sleep(0.01)
        address = json.loads(ready.read_text())["dynamodb"]
        server = Sized(process.pid, int(address.rsplit(":", 1)[1]), GENERATOR)
        self.servers.append((server, process))
        return server

    def direct(self, operation, seconds):
        command = [TARGET / DIRECT, operation, "--placement", self.placement, "--in-flight", IN_FLIGHT,
                   "--seconds", seconds, "--warm-up", 1, "--process", self.store()]
        out = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True)
        answer = json.loads(out.stdout)
        if answer["failed"]:
            raise SystemExit(f"{operation}: {answer['error']}")
        return answer

    def store(self):
        return int((self.folder / "bed" / "store.pid").read_text())

    def stop(self):
        for server, process in self.servers:
            server.stop()
            process.wait()
        subprocess.run([ROOT / "test-bed" / "tikv" / "bed", "stop", self.folder / "bed"], check=True,
                       capture_output=True)


class Share:
    """A control group that gives a process a share of one processor."""

    def __init__(self, name, percent):
        self.group = GROUPS / f"shelfmark-{os.getpid()}-{name}"
        self.group.mkdir()
        (self.group / "cpu.cfs_period_us").write_text(str(PERIOD_MICROS))
        (self.group / "cpu.cfs_quota_us").write_text(str(PERIOD_MICROS * percent // 100))

    def hold(self, process):
        (self.group / "cgroup.procs").write_text(str(process))

    def end(self):
        for process in (self.group / "cgroup.procs").read_text().split():
            (GROUPS / "cgroup.procs").write_text(process)
        self.group.rmdir()


def print_against(bed, server, options, store):
    print(f"| work, 64 in flight, {store} | cluster asked directly /s | a server /s | share | at least "
          "| p50 / p99, directly, server | processors of the server |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, ours, theirs, least in AGAINST:
        seen = {"direct": [], "server": []}
        for _ in range(options.turns):
            seen["direct"].append(bed.direct(theirs, options.seconds))
            seen["server"].append(server.ask(ours, in_flight=IN_FLIGHT, seconds=options.seconds))
        rate = {who: [one["per_second"] for one in answers] for who, answers in seen.items()}
        share = statistics.median(rate["server"]) / statistics.median(rate["direct"])
        print(f"| {name} | {spread(rate['direct'])} | {spread(rate['server'])} | {share:.2f} | {least} "
              f"| {times(seen['direct'])}, {times(seen['server'])} "
              f"| {statistics.median(one['server_cores'] for one in seen['server']):.2f} |", flush=True)


def times(answers):
    middle = [statistics.median(one[f"{which}_micros"] for one in answers) / 1000
              for which in ("p50", "p99")]
    return f"{middle[0]:.1f} / {middle[1]:.1f} ms"


def at_once(servers, operations, seconds, in_flight):
    """Asks all servers at the same time; returns their answers in order."""
    with concurrent.futures.ThreadPoolExecutor(len(servers)) as pool:
        asked = [pool.submit(server.ask, operation, in_flight=in_flight, seconds=seconds)
                 for server, operation in zip(servers, operations)]
        return [one.result() for one in asked]


def print_together(servers, options):
    shares = [Share(number, options.share) for number in range(len(servers))]
    try:
        for server, share in zip(servers, shares):
            share.hold(server.process)
        print(f"| work, each server {options.share} % of a processor, {IN_FLIGHT_EACH} in flight at each "
              "| one server /s | two servers /s | ratio | at least |")
        print("| --- | --- | --- | --- | --- |")
        for name, operation, least in TOGETHER:
            one, two = [], []
            for _ in range(options.turns):
                alone = at_once(servers[:1], [operation], options.seconds, IN_FLIGHT_EACH)
                one.append(alone[0]["per_second"])
                both = at_once(servers[:2], [operation] * 2, options.seconds, IN_FLIGHT_EACH)
                two.append(sum(answer["per_second"] for answer in both))
            ratio = statistics.median(two) / statistics.median(one)
            print(f"| {name} | {spread(one)} | {spread(two)} | {ratio:.2f} | {least or '–'} |", flush=True)
    finally:
        for share in shares:
            share.end()


def print_mixed(servers, options):
    print("| mixed, 3 servers, 4 in flight of each kind at each | /s, all servers | p50 / p99 |")
    print("| --- | --- | --- |")
    seen = {operation: [] for operation in MIXED}
    for _ in range(options.turns):
        asked = [(server, operation) for server in servers for operation in MIXED]
        answers = at_once([server for server, _ in asked], [operation for _, operation in asked],
                          options.seconds, 4)
        for operation in MIXED:
            seen[operation].append([answer for (_, own), answer in zip(asked, answers)
                                    if own == operation])
    for operation, turns in seen.items():
        rates = [sum(one["per_second"] for one in answers) for answers in turns]
        flat = [one for answers in turns for one in answers]
        print(f"| {operation} | {spread(rates)} | {times(flat)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--share", type=int, default=20)
    parser.add_argument("--store-share", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bed = Bed(pathlib.Path(folder))
        try:
            first = bed.serve()
            first.ask("setup")
            has_groups = os.access(GROUPS / "cgroup.procs", os.W_OK)
            if "direct" in options.tables:
                print_against(bed, first, options, "the store as it likes")
                print()
            if "limited" in options.tables and has_groups:
                limited = Share("store", options.store_share)
                try:
                    limited.hold(bed.store())
                    print_against(bed, first, options, f"the store {options.store_share} % of a processor")
                finally:
                    limited.end()
                print()
            servers = [first, bed.serve(), bed.serve()]
            if "two" in options.tables and has_groups:
                print_together(servers, options)
                print()
            if "mixed" in options.tables:
                print_mixed(servers, options)
        finally:
            bed.stop()


if __name__ == "__main__":
    main()
