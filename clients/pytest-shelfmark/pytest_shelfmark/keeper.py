"""Keeps one server alive for exactly as long as the process that asked for it. Run as a program.

    python keeper.py FOLDER LOG COMMAND …

Its standard input is a pipe that only the asking process holds. When that process ends, in whatever way
(`kill -9` too), the pipe ends; then the server is stopped and FOLDER removed. A server that ends by
itself leaves FOLDER with its log to the asking process. It is no daemon and restarts nothing. It needs the standard library only, and nothing of this package.
"""

import os
import shutil
import subprocess
import sys
import threading

STOP_SECONDS_MAX = 20


def main(folder: str, log: str, *command: str) -> int:
    """Runs the command until it or the asking process ends; returns the command's exit code."""
    with open(log, "ab") as stream:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream)
    input_ended = threading.Event()
    threading.Thread(target=stop_at_end_of_input, args=(server, input_ended), daemon=True).start()
    code = server.wait()
    if input_ended.is_set():
        shutil.rmtree(folder, ignore_errors=True)
    return code


def stop_at_end_of_input(server: "subprocess.Popen[bytes]", input_ended: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    input_ended.set()
    server.terminate()
    try:
        server.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        server.kill()


if __name__ == "__main__":
    sys.exit(abs(main(*sys.argv[1:])))
