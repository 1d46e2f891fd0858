"""Scripts of statements with a server's answers beside them.

    # a remark
    > STATEMENT
    the answer, line by line

    >? STATEMENT <- 1, abc, null, unset      prepared, with these values
    >2 STATEMENT                             in pages of two rows
    >* STATEMENT                             the values are different each time: only the columns
                                             and the number of rows count
    @user NAME PASSWORD                      the statements below are sent by this role
    @wait SECONDS                            for what Cassandra does behind its answers

Where Shelfmark answers something else on purpose, the reason stands behind the answer, and what it
answers:

    error 2200: what Cassandra says
    ! reason: why
    ! error 2200: what Shelfmark says

Each script runs in a keyspace of its name. What it is not: a place for what happens at one moment
only; times, random values and addresses are hidden by `>*`.
"""

import re
import time

REPLICATION = "{'class': 'SimpleStrategy', 'replication_factor': 1}"


class Step:
    """A statement, how it is sent, and what is expected."""

    def __init__(self, head, remarks):
        self.head, self.remarks = head, remarks
        self.expected, self.reason, self.ours = [], None, None
        form, text = re.fullmatch(r">(\S*) (.*)", head).groups()
        self.words = None
        self.page = int(form) if form.isdigit() else None
        self.hidden = form == "*"
        if form == "?":
            text, _, values = text.partition(" <- ")
            self.words = [word.strip() for word in values.split(",")] if values else []
        self.text = text

    def run(self, connection):
        lines = connection.run(self.text, self.words, self.page)
        # A line of the answer is one line of the script.
        lines = [line.replace("\r", "\\r") for line in lines]
        if not self.hidden:
            return lines
        columns = [line for line in lines if line.startswith(("columns", "error", "warning"))]
        return columns + [f"{len(lines) - len(columns)} rows"]

    def lines(self):
        out = [*self.remarks, self.head, *self.expected]
        if self.ours is not None:
            out += [f"! reason: {self.reason}", *(f"! {line}".rstrip() for line in self.ours)]
        return out


class Order:
    """What is no statement: another user from here on, or a pause."""

    def __init__(self, head, remarks):
        self.head, self.remarks = head, remarks
        self.name, *self.words = head.split()

    def lines(self):
        return [*self.remarks, self.head]


def read(path):
    """The steps of a script."""
    steps, remarks, last = [], [], None
    for line in path.read_text().split("\n"):
        if line.startswith(">"):
            last = Step(line, remarks)
            steps.append(last)
            remarks = []
        elif line.startswith("@"):
            steps.append(Order(line, remarks))
            remarks, last = [], None
        elif line.startswith("#") or not line:
            remarks.append(line)
        elif last is None:
            raise ValueError(f"{path.name}: an answer without a statement: {line}")
        elif line.startswith("! reason: "):
            last.reason, last.ours = line[len("! reason: "):], []
        elif line.startswith("!"):
            last.ours.append(line[2:])
        else:
            last.expected.append(line)
    return steps, remarks


def write(path, steps, rest):
    """Writes a script with the answers that its steps expect."""
    lines = [line for step in steps for line in step.lines()] + rest
    path.write_text("\n".join(lines).rstrip("\n") + "\n")


def run(path, connect, waits=False):
    """Runs a script and returns its steps with their answers. `connect` takes a name and a
    password and makes a connection; `waits` is whether the pauses are made."""
    connection = connect("cassandra", "cassandra")
    keyspace = path.stem
    for text in (f"DROP KEYSPACE IF EXISTS {keyspace}",
                 f"CREATE KEYSPACE {keyspace} WITH replication = {REPLICATION}",
                 f"USE {keyspace}"):
        lines = connection.run(text)
        if lines[0].startswith("error"):
            raise RuntimeError(f"{text}: {lines[0]}")
    steps, rest = read(path)
    answers = []
    for step in steps:
        if not isinstance(step, Order):
            answers.append(step.run(connection))
            continue
        answers.append(None)
        if step.name == "@wait":
            time.sleep(float(step.words[0]) if waits else 0)
            continue
        connection.close()
        connection = connect(*step.words)
        connection.run(f"USE {keyspace}")
    connection.run(f"DROP KEYSPACE {keyspace}")
    connection.close()
    return steps, answers, rest
