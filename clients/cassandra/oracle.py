"""Compares Shelfmark's CQL with Apache Cassandra's.

    oracle.py check  SHELFMARK [SCRIPT …]             the scripts' answers are still given
    oracle.py record CASSANDRA [SCRIPT …]             writes Cassandra's answers into the scripts
    oracle.py accept SHELFMARK REASON SCRIPT:LINE …   writes what Shelfmark answers instead, and why
    oracle.py random CASSANDRA SHELFMARK [--seed N] [--count N] [--statements N]
                                                      the same random statements to both
    oracle.py replay CASSANDRA SHELFMARK FILE         the statements of a file to both, one a line

Addresses are host:port. Both servers know the role cassandra with the password cassandra.
See README.md for how to start Cassandra.
"""

import difflib
import pathlib
import sys

import script
import wire

SCRIPTS = pathlib.Path(__file__).parent / "scripts"


def connector(address):
    return lambda user, password: wire.Connection(address, user, password)


def chosen(names):
    paths = sorted(SCRIPTS.glob("*.txt"))
    return [path for path in paths if not names or path.stem in names]


def check(address, names):
    """Runs scripts against Shelfmark; returns the number of answers that are not as they should."""
    differing = count = 0
    for path in chosen(names):
        steps, answers, _ = script.run(path, connector(address))
        for step, answer in zip(steps, answers):
            if answer is None:
                continue
            count += 1
            wanted = step.expected if step.ours is None else step.ours
            if answer != wanted:
                differing += 1
                print(f"{path.stem}: {step.head}")
                show(wanted, answer)
    print(f"{count} answers, {differing} not as recorded")
    return differing


def show(wanted, given):
    """Prints the lines that differ: `-` is missing, `+` is too much."""
    for line in difflib.ndiff(wanted, given):
        if line.startswith(("- ", "+ ")):
            print(f"    {line}")


def record(address, names):
    """Writes Cassandra's answers. A difference that is no more loses its reason."""
    for path in chosen(names):
        steps, answers, rest = script.run(path, connector(address), waits=True)
        for step, answer in zip(steps, answers):
            if answer is not None:
                step.expected = answer
                if step.ours == answer:
                    step.ours = None
        script.write(path, steps, rest)
        print(f"{path.stem}: {len(steps)} steps")
    return 0


def accept(address, reason, places):
    """Writes what Shelfmark answers to the statements at SCRIPT:LINE, with the reason."""
    wanted = {}
    for place in places:
        name, _, line = place.partition(":")
        wanted.setdefault(name, set()).add(line)
    for name, lines in wanted.items():
        path = SCRIPTS / f"{name}.txt"
        heads = {path.read_text().split("\n")[int(line) - 1] for line in lines if line}
        steps, answers, rest = script.run(path, connector(address))
        for step, answer in zip(steps, answers):
            if answer is None or (heads and step.head not in heads):
                continue
            step.ours, step.reason = (None, None) if answer == step.expected else (answer, reason)
        script.write(path, steps, rest)
    return 0


def replay(reference, address, path):
    """Sends each line of a file to both and shows where their answers differ."""
    import compare

    pair = compare.Pair(reference, address)
    for line in pathlib.Path(path).read_text().split("\n"):
        if line.strip() and not line.startswith("#"):
            pair.run(line)
    return pair.differing


def random(arguments):
    import compare

    options = {"--seed": None, "--count": 10, "--statements": 200}
    addresses = []
    words = iter(arguments)
    for word in words:
        if word in options:
            options[word] = int(next(words))
        else:
            addresses.append(word)
    return compare.run(*addresses, options["--seed"], options["--count"], options["--statements"])


def main(arguments):
    match arguments:
        case ["check", address, *names]:
            return check(address, names)
        case ["record", address, *names]:
            return record(address, names)
        case ["accept", address, reason, *places]:
            return accept(address, reason, places)
        case ["random", *rest] if len(rest) >= 2:
            return random(rest)
        case ["replay", reference, address, path]:
            return replay(reference, address, path)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
