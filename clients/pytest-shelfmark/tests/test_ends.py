"""Where the command comes from, what is said when there is none, and that nothing is left behind."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import pytest_shelfmark
from pytest_shelfmark import command

GONE_SECONDS_MAX = 30
HOLDER = """
import sys, time, pytest_shelfmark
server = pytest_shelfmark.start(data="temporary")
print(server._folder, server.endpoint_url, flush=True)
time.sleep(600)
"""


def processes_with(word):
    """Returns the ids of processes whose command line has the word."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if word in words:
            found.append(int(folder.name))
    return found


def is_gone(folder):
    deadline = time.monotonic() + GONE_SECONDS_MAX
    while time.monotonic() < deadline:
        if not os.path.exists(folder) and not processes_with(str(folder)):
            return True
        time.sleep(0.05)
    return False


def test_a_server_ends_with_its_block_and_leaves_nothing():
    with pytest_shelfmark.start(data="temporary") as server:
        folder = server._folder
        assert folder.exists()
    assert is_gone(folder)
    server.stop()


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_server_ends_when_the_test_run_is_killed(how):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as holder:
        folder, _ = holder.stdout.readline().split()
        assert len(processes_with(folder)) >= 2
        holder.send_signal(how)
        holder.wait()
    assert is_gone(folder)


def test_a_folder_that_was_named_stays(tmp_path):
    place = tmp_path / "store"
    pytest_shelfmark.start(data=str(place)).stop()
    assert place.is_dir()
    pytest_shelfmark.start(data=str(place)).stop()


def test_a_command_that_is_missing_is_said_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(command.VARIABLE, raising=False)
    with pytest.raises(pytest_shelfmark.CommandMissing, match="on PATH. Build it .* SHELFMARK_BIN"):
        pytest_shelfmark.start()
    monkeypatch.setenv(command.VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(pytest_shelfmark.CommandMissing, match="SHELFMARK_BIN names .*nothing"):
        pytest_shelfmark.start()
    with pytest.raises(pytest_shelfmark.CommandMissing, match="the argument names 'other'"):
        pytest_shelfmark.start(binary="other")


def test_the_argument_wins_over_the_variable_and_that_over_path(monkeypatch, tmp_path):
    found = command.find()
    for name in ("given", "shelfmark"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(command.VARIABLE, found)
    assert command.find(str(tmp_path / "given")) == str(tmp_path / "given")
    assert command.find() == found
    monkeypatch.delenv(command.VARIABLE)
    assert command.find() == str(tmp_path / "shelfmark")


def test_a_server_that_does_not_start_says_why():
    with pytest.raises(pytest_shelfmark.ServerError, match="(?s)did not start .exit code.*--no-such-flag"):
        pytest_shelfmark.start(arguments=["--no-such-flag"])


def test_a_server_that_ended_in_use_is_an_error():
    server = pytest_shelfmark.start()
    for process in processes_with(str(server._folder)):
        if "shelfmark-test-" in str(server._folder) and process != server._process.pid:
            os.kill(process, signal.SIGKILL)
    server._process.wait()
    with pytest.raises(pytest_shelfmark.ServerError, match="had ended while it was in use"):
        server.stop()


def test_a_server_that_asks_for_signatures_says_so_when_it_is_emptied(tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("[a]\naws_access_key_id = local\naws_secret_access_key = local\n")
    with pytest_shelfmark.start(arguments=["--credentials", str(keys)]) as server:
        with pytest.raises(pytest_shelfmark.ServerError, match="ListTables was refused: .*MissingAuthenticationToken"):
            server.empty()
