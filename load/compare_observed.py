"""Measures what it costs a server to be observed: with its console open, beside a model, with traces.

    load/compare_observed.py [--seconds N] [--turns N]

Needs `cargo build --release --package shelfmark-cli` and `cargo build --release --manifest-path
load/Cargo.toml`, both with the same target folder. All servers run this build with a store of their
own, and are asked in turns. Medians of the turns, with the least and the greatest.
"""

import argparse
import http.server
import pathlib
import statistics
import tempfile
import threading
import urllib.request

from turns import in_turns, spread, start_shelfmark

GENERATOR = "shelfmark-load-dynamodb"
ROWS = [("GetItem", "get"), ("PutItem", "put"), ("Query of 100 items", "query")]
# The generator's table and requests.
MODEL = """
entity Item {
  pk: text(min 1, max 60)
  sk: text(min 1, max 60)
  name: text(max 200)
  note: text(max 400)
  n: int
  score: decimal
  key (pk, sk)
}
read one(p, s) = Item where pk = p and sk = s unique
read some(p, n) = Item where pk = p order by sk limit n rate 100/s
write put_one(p, s, a, b, c, d) =
  insert Item(pk p, sk s, name a, note b, n c, score d) or replace
schema own target dynamodb {
  table load from Item key (pk; sk) store all
  serve one(p, s) by get load (p, s)
  serve some(p, n) by query load (p) limit n
  write put_one { put load }
}
"""


class Collector(http.server.BaseHTTPRequestHandler):
    """Takes spans and forgets them."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def look_at(console):
    """Asks for the metrics ten times a second, as a page that is open and a scraper do together."""
    stop = threading.Event()

    def go():
        while not stop.wait(0.1):
            urllib.request.urlopen(f"http://{console}/metrics").read()

    threading.Thread(target=go, daemon=True).start()
    return stop


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    traces = f"http://127.0.0.1:{collector.server_port}"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "load.shelf").write_text(MODEL, encoding="utf-8")
        console = ("--console", "127.0.0.1:18480")
        flags = {
            "alone": (),
            "with its console": console,
            "beside a model": ("--console", "127.0.0.1:18481", "--model", folder / "load.shelf"),
            "one trace in 100": ("--traces", traces, "--traces-one-in", "100"),
            "every trace": ("--traces", traces),
        }
        servers = {}
        for number, (who, more) in enumerate(flags.items()):
            servers[who] = start_shelfmark(folder / str(number), "dynamodb", GENERATOR, *more)
            servers[who].ask("setup")
        looking = look_at(console[1])
        print("| work, 32 connections | " + " | ".join(servers) + " |")
        print("| --- |" + " --- |" * len(servers))
        for shown, operation in ROWS:
            seen = in_turns(servers, operation, 32, options.seconds, options.turns)
            rates = {who: [one["per_second"] for one in answers] for who, answers in seen.items()}
            alone = statistics.median(rates["alone"])
            cells = [f"{spread(own)}: {statistics.median(own) / alone:.2f}" for own in rates.values()]
            print(f"| {shown} | " + " | ".join(cells) + " |", flush=True)
        looking.set()
        for server in servers.values():
            server.stop()


if __name__ == "__main__":
    main()
