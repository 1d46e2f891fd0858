"""Measures what has a target and no rival: a backup beside writers, a restore, ten thousand connections.

    load/measure_alone.py [--items N] [--connections N]

Needs `cargo build --release --package shelfmark-cli` and `cargo build --release --manifest-path
load/Cargo.toml`, both with the same target folder. The server runs on disk, synced, the client on the
same cores. Items have about 200 bytes.
"""

import argparse
import http.client
import json
import os
import pathlib
import resource
import socket
import statistics
import tempfile
import threading
import time

from turns import spread, start_shelfmark

GENERATOR = "shelfmark-load-dynamodb"
# A server without credentials looks at the form of a signature only.
HEADERS = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=load/20261127/us-east-1/dynamodb/aws4_request, "
                     "SignedHeaders=host;x-amz-date, Signature=0",
    "X-Amz-Date": "20261127T000000Z",
    "Content-Type": "application/x-amz-json-1.0",
}


def call(server, operation, body):
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    headers = {**HEADERS, "X-Amz-Target": f"DynamoDB_20120810.{operation}"}
    connection.request("POST", "/", json.dumps(body), headers)
    answer = connection.getresponse()
    text = json.loads(answer.read())
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"{operation}: {text}")
    return text


def memory(server):
    """Megabytes of the server that are in memory."""
    status = pathlib.Path(f"/proc/{server.process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def until(server, operation, body, is_done):
    """Waits for what a call describes, and returns the seconds that it took."""
    begun = time.monotonic()
    while not is_done(call(server, operation, body)):
        time.sleep(0.05)
    return time.monotonic() - begun


def backed_up(server):
    """Backs the table up beside writers that go on, and returns what says which backup it is."""
    put = dict(in_flight=32, seconds=3.0, warm_up=0.5)
    before = [server.ask("put", **put)["per_second"] for _ in range(3)]
    begun = time.monotonic()
    backup = call(server, "CreateBackup", {"TableName": "load", "BackupName": "one"})
    arn = backup["BackupDetails"]["BackupArn"]
    ended = []

    def wait():
        until(server, "DescribeBackup", {"BackupArn": arn},
              lambda all: all["BackupDescription"]["BackupDetails"]["BackupStatus"] == "AVAILABLE")
        ended.append(time.monotonic() - begun)

    waiter = threading.Thread(target=wait)
    waiter.start()
    beside = []
    while waiter.is_alive():
        beside.append(server.ask("put", **put)["per_second"])
    waiter.join()
    share = statistics.median(beside) / statistics.median(before)
    print(f"| puts a second before a backup, and beside it: share | {spread(before)}, "
          f"{spread(beside)}: {share:.2f} | 0.9 |")
    print(f"| the backup beside them | {ended[0]:.0f} s | |", flush=True)
    return arn


def restored(server, arn):
    sized = {"TableName": "load"}
    # A long count is made while nobody waits for it.
    until(server, "DescribeTable", sized, lambda all: all["Table"]["TableSizeBytes"] > 0)
    size = call(server, "DescribeTable", sized)["Table"]["TableSizeBytes"] / 1e6
    server.settle()
    begun = time.monotonic()
    call(server, "RestoreTableFromBackup", {"TargetTableName": "again", "BackupArn": arn})
    until(server, "DescribeTable", {"TableName": "again"},
          lambda all: all["Table"]["TableStatus"] == "ACTIVE")
    seconds = time.monotonic() - begun
    print(f"| a restore of {size:.0f} MB | {seconds:.1f} s, {size / seconds:.0f} MB/s | 100 MB/s |",
          flush=True)


def is_open(one):
    """Tells whether the server has not closed a connection that nothing is awaited on."""
    one.setblocking(False)
    try:
        return one.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def connected(server, count):
    before = memory(server)
    sockets = []
    head = "\r\n".join(f"{name}: {value}" for name, value in HEADERS.items())
    request = (f"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n"
               "X-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 2\r\n\r\n{}").encode()
    for _ in range(count):
        one = socket.create_connection(("127.0.0.1", server.port))
        one.sendall(request)
        if not one.recv(4096).startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"refused after {len(sockets)} connections")
        sockets.append(one)
    still = sum(is_open(one) for one in sockets)
    print(f"| memory of the server before, and with {still} of {count} connections that have asked once | "
          f"{before:.0f}, {memory(server):.0f} MB | 300 MB |", flush=True)
    for one in sockets:
        one.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=4_500_000)
    parser.add_argument("--connections", type=int, default=10_000)
    options = parser.parse_args()
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        print("| work | figure | target |")
        print("| --- | --- | --- |")
        server = start_shelfmark(folder / "connections", "dynamodb", GENERATOR)
        connected(server, options.connections)
        server.stop()
        server = start_shelfmark(folder / "backups", "dynamodb", GENERATOR)
        server.ask("setup", "--items", str(options.items))
        server.settle()
        restored(server, backed_up(server))
        server.stop()
        # Its folder goes with this one.
        os.waitpid(server.process, 0)


if __name__ == "__main__":
    main()
