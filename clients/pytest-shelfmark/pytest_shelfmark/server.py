"""A running server and where its clients find it.

Between this process and the server stands `keeper`, which ends the server when this process ends. The
ports are free ones of the loopback interface; no other machine reaches them.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import command, emptying

START_SECONDS_MAX = 60
STOP_SECONDS_MAX = 30
LOG_LINES_SHOWN_MAX = 20
KEEPER = pathlib.Path(__file__).with_name("keeper.py")
REGION, KEY = "eu-central-1", "local"


class ServerError(RuntimeError):
    """Says why a server did not start, stop or do what it was asked."""


class Server:
    """One running server. Use `start` to get one, and `stop` or a `with` block to end it."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        folder: pathlib.Path,
        log: pathlib.Path,
        binary: str,
        addresses: Dict[str, str],
    ) -> None:
        self._process = process
        self._folder = folder
        self._log = log
        self.binary = binary
        """The path of the command that runs."""
        self.endpoint_url = f"http://{addresses['dynamodb']}"
        """Where DynamoDB clients connect."""
        self.cql_host, _, port = addresses["cql"].rpartition(":")
        """The host of the contact point of CQL clients."""
        self.cql_port = int(port)
        """The port of the contact point of CQL clients."""

    @property
    def boto3_arguments(self) -> Dict[str, str]:
        """Returns the arguments that `boto3.client`, `boto3.resource` and a `Session`'s take."""
        return {
            "endpoint_url": self.endpoint_url,
            "region_name": REGION,
            "aws_access_key_id": KEY,
            "aws_secret_access_key": KEY,
        }

    @property
    def cluster_arguments(self) -> Dict[str, Any]:
        """Returns the arguments that `cassandra.cluster.Cluster` takes."""
        return {"contact_points": [self.cql_host], "port": self.cql_port}

    @property
    def environment(self) -> Dict[str, str]:
        """Returns the variables by which AWS SDKs find the server, and CQL's as CQL_HOST and CQL_PORT."""
        return {
            "AWS_ENDPOINT_URL_DYNAMODB": self.endpoint_url,
            "AWS_ENDPOINT_URL_DYNAMODB_STREAMS": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": KEY,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
            "CQL_HOST": self.cql_host,
            "CQL_PORT": str(self.cql_port),
        }

    @property
    def log(self) -> str:
        """Returns what the server has written to its standard output and error."""
        return written(self._log)

    def empty(self) -> None:
        """Removes all rows of all tables, of both faces. The tables and their indexes stay.

        Raises `ServerError` if the server refuses, as one does that asks for logins.
        """
        self._clear(emptying.empty)

    def reset(self) -> None:
        """Drops all tables of DynamoDB and all keyspaces of CQL.

        Raises `ServerError` if the server refuses, as for a table with deletion protection.
        """
        self._clear(emptying.drop)

    def _clear(self, how: Callable[[str, str, str], None]) -> None:
        try:
            how(self.endpoint_url, self.binary, f"{self.cql_host}:{self.cql_port}")
        except emptying.Refused as refused:
            raise ServerError(str(refused)) from None

    def stop(self) -> None:
        """Stops the server and waits for its end. A second call does nothing.

        Raises `ServerError` if the server had ended before by itself, or does not end.
        """
        if self._process.stdin is None or self._process.stdin.closed:
            return
        ended_before = self._process.poll()
        told = tail(self._log)
        self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise ServerError(f"the server did not stop within {STOP_SECONDS_MAX} s{told}") from None
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        if ended_before is not None:
            raise ServerError(f"the server had ended while it was in use, with exit code {ended_before}{told}")

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(
    binary: Optional[str] = None,
    data: str = "memory",
    arguments: Sequence[str] = (),
    start_seconds_max: float = START_SECONDS_MAX,
) -> Server:
    """Starts a server on free loopback ports and returns it once every port answers.

    `data` is "memory", "temporary" (a folder that goes away with the server) or a folder, which stays.
    `arguments` are further words for `shelfmark serve`.

    Raises `CommandMissing` if there is no command, and `ServerError` with the end of its log if it does
    not start.
    """
    found = command.find(binary)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="shelfmark-test-"))
    ready, log = folder / "ready.json", folder / "log"
    words = [found, "serve", "--dynamodb", "127.0.0.1:0", "--cql", "127.0.0.1:0", "--ready-file", str(ready)]
    # One set of tables, whatever a test signs for: all of it is emptied between tests.
    words.append("--shared")
    words += place(data, folder) + list(arguments)
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", str(KEEPER), str(folder), str(log), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        # In a session of its own, so that Ctrl-C reaches the tests first and they can end in good order.
        start_new_session=True,
    )
    addresses = None
    try:
        addresses, told = wait_for(process, ready, log, start_seconds_max)
    finally:
        if addresses is None:
            process.communicate()
            shutil.rmtree(folder, ignore_errors=True)
    if addresses is None:
        raise ServerError(f"`{' '.join(words)}` did not start{told}")
    return Server(process, folder, log, found, addresses)


def place(data: str, folder: pathlib.Path) -> List[str]:
    """Returns the flags that say where the store is."""
    if data == "memory":
        return ["--memory"]
    return ["--data", str(folder / "store") if data == "temporary" else os.path.abspath(data)]


def wait_for(
    process: "subprocess.Popen[bytes]", ready: pathlib.Path, log: pathlib.Path, seconds_max: float
) -> Tuple[Optional[Dict[str, str]], str]:
    """Waits for the ready file. Returns the addresses, or none and what the log says."""
    deadline = time.monotonic() + seconds_max
    while time.monotonic() < deadline:
        if ready.exists():
            try:
                return json.loads(ready.read_text(encoding="utf-8")), ""
            except ValueError:
                pass  # It is being written.
        if process.poll() is not None:
            return None, f" (exit code {process.returncode}){tail(log)}"
        time.sleep(0.01)
    return None, f" within {seconds_max} s{tail(log)}"


def written(log: pathlib.Path) -> str:
    """Returns what a log holds, which is nothing where there is none."""
    return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def tail(log: pathlib.Path) -> str:
    """Returns the last lines of a log as the end of a message."""
    lines = written(log).strip().splitlines()[-LOG_LINES_SHOWN_MAX:]
    return ": it says nothing" if not lines else ". Its last lines:\n    " + "\n    ".join(lines)
