"""Random tables: types of keys, indexes of both kinds, keys of several attributes, streams."""

from dataclasses import dataclass, field

from values import Values

KEY_TYPES = ["S", "S", "N", "B"]
VIEWS = ["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]
# Attributes that indexes are made of.
INDEXED = {"g": "S", "h": "N", "i": "B"}


@dataclass
class Index:
    """An index: the names of its key's attributes, and what else it holds."""

    name: str
    hashes: list
    ranges: list
    projection: dict
    local: bool


@dataclass
class Table:
    """A table; `kinds` are the types of all attributes of keys."""

    name: str
    hashes: list
    ranges: list
    kinds: dict
    indexes: list = field(default_factory=list)
    view: str = None

    def key_names(self):
        return self.hashes + self.ranges

    def indexed(self):
        """Returns the names of attributes of indexes' keys, apart from the table's own."""
        out = []
        for index in self.indexes:
            out += index.hashes + index.ranges
        return [name for name in dict.fromkeys(out) if name not in self.key_names()]

    def create(self):
        """Returns the request that makes it."""
        body = {
            "TableName": self.name,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": self.kinds[name]}
                for name in self.key_names() + self.indexed()],
            "KeySchema": schema(self.hashes, self.ranges),
        }
        for member, local in (("LocalSecondaryIndexes", True), ("GlobalSecondaryIndexes", False)):
            own = [{"IndexName": index.name, "KeySchema": schema(index.hashes, index.ranges),
                    "Projection": index.projection}
                   for index in self.indexes if index.local == local]
            if own:
                body[member] = own
        if self.view:
            body["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": self.view}
        return body


def schema(hashes, ranges):
    return ([{"AttributeName": name, "KeyType": "HASH"} for name in hashes]
            + [{"AttributeName": name, "KeyType": "RANGE"} for name in ranges])


def projection(dice):
    kind = dice.choice(["ALL", "ALL", "KEYS_ONLY", "INCLUDE"])
    if kind == "INCLUDE":
        names = dice.sample(["a", "b", "m", "size"], dice.choice([1, 2]))
        return {"ProjectionType": kind, "NonKeyAttributes": names}
    return {"ProjectionType": kind}


def random_table(dice, name):
    """Draws a table."""
    ranges = ["s"] if dice.random() < 0.75 else []
    table = Table(name, ["p"], ranges, {"p": dice.choice(KEY_TYPES), **INDEXED})
    table.kinds["s"] = dice.choice(KEY_TYPES)
    if ranges and dice.random() < 0.4:
        table.indexes.append(Index("local", ["p"], [dice.choice(list(INDEXED))],
                                   projection(dice), True))
    for number in range(dice.choice([0, 1, 1, 2])):
        names = list(INDEXED) + ["s"] * len(ranges) + ["p"]
        several = dice.random() < 0.2
        chosen = dice.sample(names, min(len(names), dice.choice([2, 3, 4]) if several
                                        else dice.choice([1, 2])))
        count = dice.randrange(1, len(chosen) + 1) if several else 1
        table.indexes.append(Index(f"global{number}", chosen[:count], chosen[count:],
                                   projection(dice), False))
    if dice.random() < 0.5:
        table.view = dice.choice(VIEWS)
    return table


def random_key(dice, table):
    return {name: Values(dice).key(table.kinds[name]) for name in table.key_names()}


def random_item(dice, table):
    """Draws an item that the table takes."""
    out = random_key(dice, table)
    for name in table.indexed():
        if dice.random() < 0.7:
            out[name] = Values(dice).key(table.kinds[name])
    return {**out, **Values(dice).attributes()}
