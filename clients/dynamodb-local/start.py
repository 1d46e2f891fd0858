"""Starts one DynamoDB Local on loopback, from libraries that `mvn` has downloaded.

    start.py LIBRARIES FOLDER PORT [HEAP]

It keeps its tables in memory; where it is measured, on disk in FOLDER, and its compiler takes its
time. FOLDER gets what it prints. Prints the process id once the port answers.
"""

import pathlib
import socket
import subprocess
import sys
import time

START_SECONDS_MAX = 120

# Quick to start, and not quick later.
HURRY = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]


def command(libraries, folder, port, heap, measured):
    """Returns the words that start it. The launcher is run from its source, so nothing is built."""
    launcher = pathlib.Path(__file__).parent / "Loopback.java"
    tables = ["-dbPath", str(folder)] if measured else ["-inMemory"]
    return ["java", f"-Xmx{heap}", *([] if measured else HURRY),
            f"-Dsqlite4java.library.path={libraries}",
            "-cp", f"{libraries}/*", str(launcher.resolve()),
            "-port", str(port), *tables, "-sharedDb", "-disableTelemetry"]


def answers(port):
    """Returns true if something listens on the port."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def start(libraries, folder, port, heap="1g", measured=False):
    """Starts it and returns the process id once the port answers."""
    port = int(port)
    if answers(port):
        sys.exit(f"port {port} is taken: end what listens there")
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    words = command(pathlib.Path(libraries).resolve(), folder, port, heap, measured)
    with (folder / "out.log").open("w") as output:
        process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=output,
                                   stdin=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + START_SECONDS_MAX
    while not answers(port):
        if process.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"DynamoDB Local did not start; see {folder}/out.log")
        time.sleep(0.2)
    return process.pid


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    print(start(*sys.argv[1:]))
