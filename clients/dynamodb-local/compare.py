"""The same random requests to Shelfmark and to DynamoDB Local, whose answers are compared.

    compare.py run SHELFMARK LOCAL [--seed N] [--count N] [--requests N] [--all] [--whole] [--texts]
    compare.py replay SHELFMARK LOCAL FILE      the requests of a file to both, one a line

Addresses are host:port. `--all` shows the known differences too. A case is a table and requests
about it; everything in it follows from its seed, which is printed. What differs in a new way is
shrunk to one request and the items that it needs, unless it shall be left `--whole`, which is
quicker. That both refuse in other words is known, but not with `--texts`. The exit status is 1 if
something differs in a new way.
"""

import collections
import json
import random
import sys
import time

import known
import pair
import shrink
from operations import Requests
from tables import random_table

TABLE = "differ"
# After a write what it names is compared; after so many requests everything.
WHOLE_TABLE = 25
FLAGS = {"--all", "--whole", "--texts"}
DEFAULTS = {"--seed": None, "--count": 20, "--requests": 250}


class Findings:
    """The kinds of differences so far, with an example of each."""

    def __init__(self, texts):
        self.texts = texts
        self.seen = collections.Counter()
        self.decided = collections.Counter()

    def note(self, found):
        """Counts a difference; returns true for the first of a kind that nobody decided."""
        decision = known.decision(found, self.texts)
        if decision:
            self.decided[decision] += 1
            return False
        self.seen[found.kind()] += 1
        return self.seen[found.kind()] == 1


def show(found, scenario):
    for operation, body in scenario:
        print(f"    {operation} {json.dumps(body, ensure_ascii=False)}")
    print(f"    = {found.operation}: {found.place}")
    print(f"    + shelfmark {found.ours}")
    print(f"    - local     {found.theirs}", flush=True)


def run_case(both, seed, count, findings, whole):
    """Runs one case: a table and `count` requests."""
    dice = random.Random(seed)
    table = random_table(dice, TABLE)
    requests = Requests(dice, table)
    both.renew(table.create())
    for number in range(count):
        operation, body = requests.random()
        if number % WHOLE_TABLE == 0:
            operation, body = "Scan", {"TableName": TABLE}
        items = both.items
        found = both.differs(operation, body)
        if not found:
            continue
        shrunk = False
        if findings.note(found):
            print(f"  seed {seed}:")
            scenario = [("CreateTable", table.create()), (operation, body)]
            if not whole:
                shrunk = True
                found, scenario = shrink.shrink(both, table.create(), items, operation, body, found)
            show(found, scenario)
        if shrunk or (operation in pair.WRITES and both.tables_differ(operation)):
            both.renew(table.create(), items)
    if table.view:
        found = both.streams_differ()
        if found and findings.note(found):
            print(f"  seed {seed}, the stream:")
            show(*shrink.shrink_stream(both, table.create(), both.history, found))


def run(ours, theirs, options, flags):
    both = pair.Pair(ours, theirs, TABLE)
    first = options["--seed"]
    if first is None:
        first = time.time_ns() // 1000 % 1_000_000_000
    findings = Findings("--texts" in flags)
    for seed in range(first, first + options["--count"]):
        print(f"seed {seed}", flush=True)
        run_case(both, seed, options["--requests"], findings, "--whole" in flags)
    both.drop()
    print(f"{both.count} requests, {both.refused} refused by both, "
          f"{sum(findings.decided.values())} known differences of {len(findings.decided)} kinds, "
          f"{sum(findings.seen.values())} new ones of {len(findings.seen)} kinds")
    for decision, count in findings.decided.most_common() if "--all" in flags else []:
        print(f"  {count:6} {decision}")
    return bool(findings.seen)


def replay(ours, theirs, path):
    """Sends each line of a file (an operation and its body) to both and shows both answers."""
    both = pair.Pair(ours, theirs, TABLE)
    differs = False
    with open(path) as lines:
        for line in lines:
            operation, _, body = line.strip().partition(" ")
            if not operation or operation.startswith("#"):
                continue
            found = both.compare(operation, json.loads(body or "{}"))
            print(line.strip())
            for name, answer in zip(("shelfmark", "local"), both.last):
                print(f"    {name:9} {json.dumps(answer, ensure_ascii=False)}")
            differs = differs or found is not None
    return differs


def main(arguments):
    flags = FLAGS & set(arguments)
    words = iter([word for word in arguments if word not in flags])
    options, plain = dict(DEFAULTS), []
    for word in words:
        if word in options:
            options[word] = int(next(words))
        else:
            plain.append(word)
    match plain:
        case ["run", ours, theirs]:
            return run(ours, theirs, options, flags)
        case ["replay", ours, theirs, path]:
            return replay(ours, theirs, path)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
