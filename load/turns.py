"""What the runners share: a server that is asked by a load generator, and servers in turns."""

import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
# A server is quiet when it takes less than this share of one core, looked at for so long.
SETTLED_SHARE = 0.05
SETTLE_LOOK_SECONDS = 0.5
SETTLE_SECONDS_MAX = 20


class Server:
    """A process that listens on a port, and the load generator that asks it."""

    def __init__(self, process, port, generator):
        self.process, self.port, self.generator = process, port, generator

    def ask(self, operation, *options, in_flight=64, seconds=1.0, warm_up=1.0):
        command = [TARGET / self.generator, operation, "--endpoint", f"127.0.0.1:{self.port}",
                   "--in-flight", in_flight, "--seconds", seconds, "--warm-up", warm_up,
                   "--process", self.process, *options]
        out = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        if out.returncode:
            sys.exit(f"{operation}: {out.stderr}")
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


def start_shelfmark(folder, face, generator, *flags):
    """Starts this build on disk, and returns the server that answers one of its faces."""
    folder.mkdir(parents=True, exist_ok=True)
    ready = folder / "ready.json"
    command = [TARGET / "shelfmark", "serve", "--data", folder / "data", "--cql", "127.0.0.1:0",
               "--dynamodb", "127.0.0.1:0", "--ready-file", ready, *flags]
    process = subprocess.Popen([str(word) for word in command], stderr=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    while not ready.exists():
        time.sleep(0.01)
    address = json.loads(ready.read_text())[face]
    return Server(process.pid, int(address.rsplit(":", 1)[1]), generator)


def in_turns(servers, operation, in_flight, seconds, turns):
    """Asks all servers in turns, so that a machine that is shared is as slow for one as for the
    other, and returns the answers of each."""
    seen = {name: [] for name in servers}
    for _ in range(turns):
        for name, server in servers.items():
            seen[name].append(server.ask(operation, in_flight=in_flight, seconds=seconds))
            server.settle()
    return seen


def spread(values, digits=0):
    """Returns the median with the least and the greatest, as the tables print it."""
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}–{most:.{digits}f})"
