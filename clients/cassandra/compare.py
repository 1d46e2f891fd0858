"""Random schemas and statements, sent to two servers, whose answers are compared.

Everything follows from a number that is printed: `--seed N --count 1` runs that case again.
What it is not: a proof that rows are right; where both are wrong alike it sees nothing.
"""

import random
import re
import time

import generate
import script
import wire

# What is compared in another form: it follows from the run, not from the statement.
HIDDEN = [
    (re.compile(r"/127\.0\.0\.1:\d+"), "/ADDRESS"),
    (re.compile(r"statement id: [0-9a-f]+"), "statement id: ID"),
    # Microseconds of now.
    (re.compile(r"\b1[6-9]\d{14}\b"), "NOW"),
]
# Answers that differ on purpose: what Cassandra says, and why.
KNOWN = [
    (re.compile(r"^error 0000: "), "an exception that Cassandra did not mean to answer with"),
    (re.compile(r"^error 1[35]00: "), "Cassandra fails"),
    (re.compile(r"^columns .*'LegacyTimeUUIDType'"), "a type that no driver knows"),
    (re.compile(r"^error 000a: Invalid value for the paging state"), "Cassandra reads not its own"),
    (re.compile(r"^error 1400: the operation 'date [+-] duration' failed"), "a number is no date"),
]
# What is said of a connection once, when it was not said for a while.
NOT_ALWAYS = "warning: `USE <keyspace>`"
# Of several things that are wrong, which one is told first follows from a hash table of Cassandra's.
UNORDERED = ["error 2200: Error decoding JSON value for ", "error 2200: Could not decode JSON string"]


def shown(lines):
    out = []
    for line in lines:
        if line.startswith(NOT_ALWAYS):
            continue
        for pattern, text in HIDDEN:
            line = pattern.sub(text, line)
        out.append(line)
    return out


def ask(connection, text, words, page, now):
    try:
        return shown(connection.run(text, words, page, now))
    except (ValueError, OverflowError):
        # A value of another type than the marker's.
        return ["values that do not fit the markers"]


def known(lines):
    return any(pattern.match(line) for pattern, _ in KNOWN for line in lines)


class Pair:
    """Two servers that get the same statements."""

    def __init__(self, reference, address, version=wire.OLDER, keyspace="random_tables"):
        self.both = [wire.Connection(own, version=version) for own in (reference, address)]
        self.count = self.differing = self.refused = 0
        for text in (f"DROP KEYSPACE IF EXISTS {keyspace}",
                     f"CREATE KEYSPACE {keyspace} WITH replication = {script.REPLICATION}",
                     f"USE {keyspace}"):
            for connection in self.both:
                connection.run(text)

    def close(self):
        for connection in self.both:
            connection.close()

    def run(self, text, words=None, page=None, now=None):
        """Sends a statement; returns what the second server says."""
        wanted, given = (ask(own, text, words, page, now) for own in self.both)
        self.count += 1
        self.refused += wanted[0].startswith("error")
        if wanted == given or known(wanted):
            return given
        if any(wanted[-1].startswith(text) and given[-1].startswith(text) for text in UNORDERED):
            return given
        self.differing += 1
        mark = "" if page is None else f" (pages of {page})"
        print(f"  {text}" + ("" if words is None else f" <- {', '.join(words)}") + mark)
        for line in wanted:
            print(f"    - {line}")
        for line in given:
            print(f"    + {line}")
        return given


def run(reference, address, seed, count, statements):
    """Runs `count` cases and returns how many answers differ."""
    first = time.time_ns() // 1000 % 1_000_000_000 if seed is None else seed
    total = differing = refused = 0
    for number in range(first, first + count):
        case = generate.Case(random.Random(number), time.time_ns() // 1_000_000_000)
        pair = Pair(reference, address, case.version)
        print(f"seed {number}")
        for text in case.schema():
            pair.run(text)
        for _ in range(statements):
            text, words, page = case.statement()
            given = pair.run(text, words, page, case.now)
            case.learn(text, not given[0].startswith("error"))
        pair.close()
        total += pair.count
        differing += pair.differing
        refused += pair.refused
        if pair.differing:
            print(f"seed {number}: {pair.differing} of {pair.count} answers differ")
    print(f"{total} statements, {refused} refused by both, {differing} answered differently")
    return differing
