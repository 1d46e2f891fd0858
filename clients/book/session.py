"""A shell in a folder of its own, in which the commands of one page run one after another.

The ports that a page names (8000, 9042, 8480) stand for free ones; what is printed is turned back. The
folder has links to the folders of the repository, as a reader in a checkout has them.
"""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORTS = ("8000", "9042", "8480")
LINKED = ("clients", "crates", "deploy", "docs", "examples", "models")
COMMAND_SECONDS_MAX = 300
# What a shell that nobody types at says of a job that was killed.
KILLED = re.compile(r".*: line \d+: +\d+ (Killed|Terminated) ")
BACKGROUND_SECONDS_MAX = 60

# Without flags for them, addresses are those of the page.
SHELFMARK = """#!/bin/sh
words=" $* "
case "$words" in
  *" --config "*|*" --help "*) ;;
  " serve "*)
    case "$words" in *" --dynamodb "*) ;; *) set -- "$@" --dynamodb 127.0.0.1:8000 ;; esac
    case "$words" in *" --cql "*) ;; *) set -- "$@" --cql 127.0.0.1:9042 ;; esac ;;
  " cql "*)
    case "$words" in *" --server "*|*" --data "*) ;; *) set -- "$@" --server 127.0.0.1:9042 ;; esac ;;
esac
exec "$SHELFMARK_BIN" "$@"
"""
# The examples were built with everything else.
CARGO = """#!/bin/sh
case "$*" in
  "run -p shelfmark --example "*) exec "$SHELFMARK_EXAMPLES/$5" ;;
  *) echo "the book runs examples only, not: cargo $*"; exit 2 ;;
esac
"""


class Session:
    """A shell of a page; a `with` block ends it and whatever it started."""

    def __enter__(self):
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="shelfmark-book-"))
        self.folder = self.base / "checkout"
        self.folder.mkdir()
        self.ports = dict(zip(PORTS, free_ports(len(PORTS))))
        for name in LINKED:
            (self.folder / name).symlink_to(ROOT / name)
        tools = self.base / "tools"
        tools.mkdir()
        for name, text in (("shelfmark", SHELFMARK), ("cargo", CARGO)):
            (tools / name).write_text(self.with_own_ports(text))
            (tools / name).chmod(0o755)
        self.shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=self.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
            env=self.environment(tools),
        )
        self.count = 0
        return self

    def environment(self, tools):
        """Returns an environment without settings of whoever runs this."""
        kept = {name: os.environ[name] for name in ("SHELFMARK_BIN", "SHELFMARK_EXAMPLES") if name in os.environ}
        path = os.pathsep.join([str(tools), str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
        home = self.base / "home"
        home.mkdir()
        return {
            **kept,
            "PATH": path,
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": str(ROOT / "clients" / "pytest-shelfmark"),
        }

    def __exit__(self, *_):
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.shell.pid, how)
            except ProcessLookupError:
                break
            time.sleep(0.3)
        self.shell.wait()
        shutil.rmtree(self.base, ignore_errors=True)

    def with_own_ports(self, text):
        for shown, own in self.ports.items():
            text = re.sub(rf"\b{shown}\b", own, text)
        return text

    def as_on_the_page(self, text):
        for shown, own in self.ports.items():
            text = re.sub(rf"\b{own}\b", shown, text)
        return text.replace(str(self.base / "checkout"), "…")

    def write(self, name, lines):
        """Writes a file of the page."""
        path = (self.folder / name).resolve()
        if self.folder not in path.parents:
            raise ValueError(f"{name} does not lie in the folder of the page")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.with_own_ports("\n".join(lines) + "\n"))

    def run(self, text, is_done):
        """Runs one command. Returns what it printed, line by line, and its exit code.

        One that ends in `&` stays in the background: what it prints is read until `is_done` says so.
        """
        self.count += 1
        script, printed = self.base / f"{self.count}.sh", self.base / f"{self.count}.out"
        background = text.endswith("&")
        if background:
            text = f"{text[:-1]} >{printed} 2>{self.base / f'{self.count}.err'} &"
        script.write_text(self.with_own_ports(text) + "\n")
        redirected = "" if background else f">{printed} 2>&1"
        self.shell.stdin.write(f". {script} {redirected} </dev/null; echo done $?\n")
        self.shell.stdin.flush()
        code = self.answer(text)
        deadline = time.monotonic() + BACKGROUND_SECONDS_MAX
        while background and not is_done(self.lines(printed)) and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.lines(printed), code

    def answer(self, text):
        """Waits for the exit code of the command that was sent."""
        timer = subprocess.Popen(
            [sys.executable, "-c", f"import time, os; time.sleep({COMMAND_SECONDS_MAX}); os.killpg({self.shell.pid}, 9)"]
        )
        try:
            line = self.shell.stdout.readline()
        finally:
            timer.kill()
            timer.wait()
        if not line.startswith("done "):
            raise ValueError(f"the shell ended in, or waited too long for: {text}")
        return int(line.split()[1])

    def lines(self, printed):
        text = printed.read_text(encoding="utf-8", errors="replace") if printed.exists() else ""
        lines = [line.rstrip() for line in self.as_on_the_page(text).splitlines() if not KILLED.match(line)]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def free_ports(count):
    """Returns free ports, as text."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports
