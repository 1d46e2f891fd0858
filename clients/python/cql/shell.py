"""cqlsh as a program: with statements given, with a file, and at a terminal."""

import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

CQLSH = str(pathlib.Path(sys.executable).parent / "cqlsh")
PATIENCE = ("--request-timeout=60", "--connect-timeout=30")
ANSWER_SECONDS_MAX = 60
QUIET_SECONDS = 0.2
# The key that takes back what was typed on a line.
DISCARD = "\x15"


def environment():
    """Nothing of whoever runs the tests: no settings, no history, no login of theirs."""
    home = os.environ.get("SHELFMARK_HOME") or tempfile.mkdtemp(prefix="shelfmark-home-")
    os.environ["SHELFMARK_HOME"] = home
    return {**os.environ, "HOME": home, "PYTHONUTF8": "1", "TZ": "UTC", "TERM": "dumb",
            "COLUMNS": "400"}


def run(address, script, *more, right=True):
    """Runs statements as a file and returns what cqlsh prints; fails on errors where it is to go
    right, and returns those too where it is not."""
    host, _, port = address.rpartition(":")
    with tempfile.NamedTemporaryFile("w", suffix=".cql", encoding="utf-8") as file:
        file.write(script)
        file.flush()
        done = subprocess.run(
            [CQLSH, "--no-color", *PATIENCE, host, port, "-f", file.name, *more],
            capture_output=True, encoding="utf-8", timeout=180, check=False, env=environment())
        # Errors name the file that they are in.
        trouble = done.stderr.replace(file.name, "script")
    if right and (done.returncode != 0 or trouble.strip()):
        raise AssertionError(f"{script}\n{done.stdout}\n{trouble}")
    return done.stdout if right else done.stdout + trouble


class Terminal:
    """cqlsh at a terminal: what is typed, and what comes."""

    def __init__(self, address, *more):
        host, _, port = address.rpartition(":")
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.execve(CQLSH, [CQLSH, "--no-color", "--disable-history", *PATIENCE, *more, host,
                              port], environment())
        self.greeting = self.until("cqlsh> ")

    def until(self, text):
        """Returns what comes until a text has come and nothing comes any more."""
        seen, deadline = "", time.monotonic() + ANSWER_SECONDS_MAX
        while True:
            ready, _, _ = select.select([self.file], [], [], QUIET_SECONDS)
            if ready:
                seen += os.read(self.file, 65536).decode(errors="replace").replace("\r", "")
            elif text in seen:
                return seen
            elif time.monotonic() > deadline:
                raise AssertionError(f"{text!r} did not come, but {seen!r}")

    def type(self, text, until):
        os.write(self.file, text.encode())
        return self.until(until)

    def close(self):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.file)
