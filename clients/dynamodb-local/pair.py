"""Two servers that get the same requests, and what is different between them.

After each write the tables are compared too, so a difference is seen with the request that made it.
"""

import json
import re
from dataclasses import dataclass

import normal
import wire

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems",
          "ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"}
# What of a page says where the next one begins, by operation.
PAGES = {"Query": ("LastEvaluatedKey", "ExclusiveStartKey"),
         "Scan": ("LastEvaluatedKey", "ExclusiveStartKey"),
         "ExecuteStatement": ("NextToken", "NextToken")}
PAGES_MAX = 60
WORD = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\b\d+\b|:v\d+|#\w+")


@dataclass
class Difference:
    """Where two answers differ: `place` is a path in the body, or says that they are errors."""

    operation: str
    place: str
    ours: str
    theirs: str
    request: str = ""

    def kind(self):
        """Returns what is the same for all differences of a kind."""
        return (self.operation, re.sub(r"\d+", "0", self.place),
                WORD.sub("…", self.ours)[:160], WORD.sub("…", self.theirs)[:160])


def line(answer):
    """Returns an answer as one line: of an error its code and text."""
    code, message, rest = answer
    if code == "ok":
        return "ok"
    more = f" {normal.text(rest)}" if rest else ""
    return f"{code}: {message}{more}"


def difference(operation, ours, theirs):
    """Returns the first difference of two answers."""
    if ours == theirs:
        return None
    if ours[0] != "ok" or theirs[0] != "ok":
        return Difference(operation, "error", line(ours), line(theirs))
    found = normal.first_difference(ours[2], theirs[2])
    if found is None:
        return None
    path, one, other = found
    return Difference(operation, path, normal.text(one), normal.text(other))


class Pair:
    """Shelfmark first, DynamoDB Local second."""

    def __init__(self, ours, theirs, table):
        self.servers = [wire.Server(ours), wire.Server(theirs)]
        self.table = table
        self.count = self.refused = 0
        self.last = []
        # The writes since the table was made, and the items that Shelfmark has.
        self.history, self.items = [], []
        self.key_names = []

    def drop(self, name=None):
        for server in self.servers:
            server.ask("DeleteTable", {"TableName": name or self.table})

    def renew(self, create, items=()):
        """Makes the table anew on both, with the items."""
        self.drop()
        self.history = []
        self.key_names = [each["AttributeName"] for each in create["KeySchema"]]
        for server in self.servers:
            status, found = server.ask("CreateTable", create)
            if status != 200:
                raise ValueError(f"{server.address} refuses {json.dumps(create)}: {found}")
        for item in items:
            self.put(item)
        self.items = list(items)

    def put(self, item):
        body = {"TableName": self.table, "Item": item}
        self.history.append(("PutItem", body))
        for server in self.servers:
            server.ask("PutItem", body)

    def ask(self, server, operation, body):
        """Returns the answer of one server, of all its pages."""
        status, found = server.ask(operation, body)
        after, before = PAGES.get(operation, (None, None))
        if status != 200 or not found.get(after):
            return normal.answer(operation, body, status, found)
        pages = [found]
        while found.get(after) and len(pages) < PAGES_MAX:
            status, found = server.ask(operation, {**body, before: found[after]})
            if status != 200:
                return normal.answer(operation, body, status, found)
            pages.append(found)
        return normal.answer(operation, body, 200, merged(pages))

    def compare(self, operation, body):
        """Sends a request to both and returns the difference of their answers."""
        self.last = [self.ask(server, operation, body) for server in self.servers]
        self.count += 1
        self.refused += all(answer[0] != "ok" for answer in self.last)
        return self.about(body, difference(operation, *self.last))

    def about(self, body, found):
        """Writes the request into a difference."""
        if found:
            found.request = json.dumps(body)
        return found

    def differs(self, operation, body):
        """Works as `compare`, and looks at the tables after a write."""
        found = self.compare(operation, body)
        if operation == "CreateTable" and body.get("TableName") != self.table:
            self.drop(body.get("TableName"))
        if operation in WRITES:
            self.history.append((operation, body))
            if not found:
                found = self.about(body, self.touched_differ(operation, body))
        return found

    def tables_differ(self, operation):
        """Compares all items."""
        ours, theirs = (self.ask(server, "Scan", {"TableName": self.table})
                        for server in self.servers)
        self.items = ours[2]["Items"]
        return self.of_table(difference(operation, ours, theirs))

    def touched_differ(self, operation, body):
        """Compares the items that a write names: all where it is a statement."""
        keys = [] if "Statement" in operation or operation == "ExecuteTransaction" else list(
            self.keys(body))
        if not keys:
            return self.tables_differ(operation)
        items = {normal.text(self.key(item)): item for item in self.items}
        for key in keys:
            request = {"TableName": self.table, "Key": key}
            ours, theirs = (self.ask(server, "GetItem", request) for server in self.servers)
            items.pop(normal.text(key), None)
            if "Item" in ours[2]:
                items[normal.text(key)] = ours[2]["Item"]
            found = difference(operation, ours, theirs)
            if found:
                return self.of_table(found)
        self.items = list(items.values())
        return None

    def of_table(self, found):
        if found:
            found.place = f"table{found.place}"
        return found

    def key(self, item):
        return {name: item[name] for name in self.key_names if name in item}

    def keys(self, node):
        """Yields the keys of all items in a request."""
        if isinstance(node, list):
            for each in node:
                yield from self.keys(each)
        elif isinstance(node, dict):
            if all(isinstance(node.get(name), dict) for name in self.key_names):
                yield normal.normal(self.key(node), set())
            else:
                for each in node.values():
                    yield from self.keys(each)

    # Streams.

    def streams_differ(self):
        """Returns where the records of both differ: those of each item, in their order."""
        ours, theirs = (self.records(server) for server in self.servers)
        found = normal.first_difference(ours, theirs)
        if found is None:
            return None
        path, one, other = found
        # The path names an item, which says nothing about the kind.
        place = f"stream{path[path.rfind('}') + 1:]}"
        return Difference("GetRecords", place, normal.text(one), normal.text(other))

    def records(self, server):
        _, found = server.ask("DescribeTable", {"TableName": self.table})
        arn = found["Table"]["LatestStreamArn"]
        _, found = server.ask("DescribeStream", {"StreamArn": arn})
        out = {}
        for shard in found["StreamDescription"]["Shards"]:
            body = {"StreamArn": arn, "ShardId": shard["ShardId"],
                    "ShardIteratorType": "TRIM_HORIZON"}
            _, found = server.ask("GetShardIterator", body)
            iterator = found.get("ShardIterator")
            while iterator:
                _, found = server.ask("GetRecords", {"ShardIterator": iterator})
                iterator = found.get("NextShardIterator") if found.get("Records") else None
                for record in found.get("Records", []):
                    own = normal.normal(record["dynamodb"], {"ApproximateCreationDateTime",
                                                             "SequenceNumber"})
                    own["eventName"] = record["eventName"]
                    out.setdefault(normal.text(own["Keys"]), []).append(own)
        return out


def merged(pages):
    """Returns pages as one."""
    out = {own: value for own, value in pages[0].items()
           if own not in ("LastEvaluatedKey", "NextToken", "ConsumedCapacity")}
    for page in pages[1:]:
        for own in ("Items", "Count", "ScannedCount"):
            if own in out and own in page:
                out[own] += page[own]
    return out
