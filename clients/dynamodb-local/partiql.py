"""Random statements of PartiQL about a table, mostly right ones, with their parameters."""

from expressions import COMPARATORS
from tables import random_item, random_key
from values import NAMES, TYPES, Values

BROKEN = ["SELECT", "SELECT * FROM", "SELECT * FROM {t} WHERE", "SELECT p, FROM {t}",
          "DELETE FROM {t}", "UPDATE {t} SET a=1", "INSERT INTO {t} VALUE {{}}",
          "SELECT * FROM nope WHERE p='a'", "SELECT COUNT(*) FROM {t}",
          "SELECT * FROM {t} LIMIT 1", "DROP TABLE {t}", "SELECT * FROM {t} x",
          "SELECT DISTINCT a FROM {t}", "SELECT * FROM {t} GROUP BY a",
          "SELECT * FROM {t} ORDER BY a", "SELECT * FROM {t} WHERE a LIKE 'x'",
          "SELECT * FROM {t}.nope WHERE p='a'", "", "SELECT * FROM {t} WHERE a=?",
          "INSERT INTO {t} VALUE 1", "SELECT a AS x FROM {t}", "SELECT * FROM {t} WHERE p = ",
          "SELECT a+1 FROM {t}", "SELECT VALUE a FROM {t}", "SELECT * FROM {t}, {t}",
          "SELECT *, a FROM {t}", "SELECT * FROM {t};", "select p from {t}",
          "UPDATE {t} SET p='x' WHERE p='a'", "INSERT INTO {t} VALUES ('a')",
          "SELECT 'a' FROM {t}", "SELECT * FROM {t} WHERE EXISTS(SELECT * FROM {t})",
          "DELETE FROM {t} WHERE a=1", "SELECT * FROM {t} WHERE a IN ()",
          "SELECT * FROM {t} WHERE 1=1", "EXPLAIN SELECT * FROM {t}"]


class Statement:
    """One statement, and the parameters that it has so far."""

    def __init__(self, dice, table):
        self.dice = dice
        self.table = table
        self.parameters = []

    def literal(self, value, depth=0):
        """Returns the text of a value, or a question mark: within other values seldom, for DynamoDB
        Local takes none there."""
        (kind, own), = value.items()
        chance = 0.02 if depth else 0.3
        if depth and kind in ("B", "BS") and self.dice.random() < 0.9:
            kind, own = "S", "x"
        if kind in ("B", "BS") or self.dice.random() < chance:
            self.parameters.append({kind: own})
            return "?"
        match kind:
            case "S":
                return "'" + own.replace("'", "''") + "'"
            case "N":
                return own
            case "BOOL":
                return "true" if own else "false"
            case "NULL":
                return "null"
            case "L":
                return "[" + ", ".join(self.literal(each, depth + 1) for each in own) + "]"
            case "M":
                return "{" + ", ".join(f"'{name}': {self.literal(each, depth + 1)}"
                                       for name, each in own.items()) + "}"
            case "SS":
                return "<<" + ", ".join(f"'{each}'" for each in own) + ">>"
            case _:
                return "<<" + ", ".join(own) + ">>"

    def name(self, name):
        quoted = name in ("name", "size") or self.dice.random() < 0.3
        return f'"{name}"' if quoted else name

    def path(self, top=None):
        top = top or self.dice.choice(NAMES)
        out = self.name(top)
        while self.dice.random() < (0.5 if top in ("m", "l") else 0.05):
            out += f"[{self.dice.choice([0, 1])}]" if top == "l" else f".{self.dice.choice('xya')}"
            top = "m"
        return out

    def table_name(self, index=None):
        name = f'"{self.table.name}"' if self.dice.random() < 0.5 else self.table.name
        return f'{name}."{index.name}"' if index else name

    def key_where(self, key):
        return " AND ".join(f"{self.name(name)} = {self.literal(value)}"
                            for name, value in key.items())

    def value(self, name):
        if name in self.table.kinds:
            return self.literal(Values(self.dice).key(self.table.kinds[name]))
        return self.literal(Values(self.dice).named(name))

    def condition(self, depth=0):
        dice = self.dice
        roll = dice.random()
        if depth < 2 and roll < 0.25:
            word = dice.choice(["AND", "OR"])
            return f"({self.condition(depth + 1)} {word} {self.condition(depth + 1)})"
        if depth < 2 and roll < 0.33:
            return f"NOT {self.condition(depth + 1)}"
        top = dice.choice(NAMES)
        path = self.path(top)
        match dice.randrange(9):
            case 0:
                return f"{path} IS {dice.choice(['', 'NOT '])}{dice.choice(['MISSING', 'NULL'])}"
            case 1:
                return f"begins_with({path}, {self.literal({'S': dice.choice('abx')})})"
            case 2:
                return f"contains({path}, {self.literal(Values(dice).any(kinds=['S', 'N']))})"
            case 3:
                return f"{path} BETWEEN {self.value(top)} AND {self.value(top)}"
            case 4:
                return f"{path} IN [{self.value(top)}, {self.value(top)}]"
            case 5:
                return f"size({path}) {dice.choice(COMPARATORS)} {dice.choice([0, 1, 2])}"
            case 6:
                return f"attribute_type({path}, {self.literal({'S': dice.choice(TYPES)})})"
            case _:
                return f"{path} {dice.choice(COMPARATORS)} {self.value(top)}"

    def select(self):
        dice = self.dice
        indexes = self.table.indexes
        index = dice.choice(indexes) if indexes and dice.random() < 0.3 else None
        target = index or self.table
        columns = "*" if dice.random() < 0.6 else ", ".join(
            self.path(top) for top in dice.sample(NAMES, dice.choice([1, 2])))
        text = f"SELECT {columns} FROM {self.table_name(index)}"
        parts = []
        if dice.random() < 0.8:
            for name in target.hashes:
                parts.append(f"{self.name(name)} = {self.value(name)}")
            if target.ranges and dice.random() < 0.6:
                name = target.ranges[0]
                parts.append(f"{self.name(name)} {dice.choice(COMPARATORS)} {self.value(name)}")
        if dice.random() < 0.4:
            parts.append(self.condition())
        if parts:
            text += " WHERE " + " AND ".join(parts)
        if target.ranges and dice.random() < 0.15:
            text += f" ORDER BY {self.name(target.ranges[0])} {dice.choice(['ASC', 'DESC', ''])}"
        return text

    def get(self):
        key = random_key(self.dice, self.table)
        return f"SELECT * FROM {self.table_name()} WHERE {self.key_where(key)}"

    def insert(self):
        item = random_item(self.dice, self.table)
        members = ", ".join(f"'{name}': {self.literal(value)}" for name, value in item.items())
        return f"INSERT INTO {self.table_name()} VALUE {{{members}}}"

    def where_key(self):
        text = f" WHERE {self.key_where(random_key(self.dice, self.table))}"
        return text + (f" AND {self.condition()}" if self.dice.random() < 0.3 else "")

    def assignment(self):
        dice = self.dice
        top = dice.choice(NAMES)
        path = self.path(top)
        match dice.randrange(7):
            case 0:
                return f" SET {path} = {self.path('a')} {dice.choice('+-')} {dice.choice([1, 2])}"
            case 1:
                own = self.literal({"L": [Values(dice).any()]})
                return f" SET {path} = list_append({self.path('l')}, {own})"
            case 2:
                own = self.literal(Values(dice).any(kinds=["SS", "NS"]))
                word = dice.choice(["set_add", "set_delete"])
                source = self.path("c") if dice.random() < 0.1 else path
                return f" SET {path} = {word}({source}, {own})"
            case 3:
                return f" SET {path} = if_not_exists({self.path()}, {self.value(top)})"
            case 4:
                return f" REMOVE {path}"
            case _:
                return f" SET {path} = {self.value(top)}"

    def update(self, returning=True):
        text = f"UPDATE {self.table_name()}"
        for _ in range(self.dice.choice([1, 1, 2])):
            text += self.assignment()
        text += self.where_key()
        if returning and self.dice.random() < 0.5:
            text += (f" RETURNING {self.dice.choice(['ALL', 'MODIFIED'])} "
                     f"{self.dice.choice(['OLD', 'NEW'])} *")
        return text

    def delete(self, returning=True):
        text = f"DELETE FROM {self.table_name()}{self.where_key()}"
        return text + (" RETURNING ALL OLD *" if returning and self.dice.random() < 0.4 else "")

    def exists(self):
        return f"EXISTS({self.get()} AND {self.condition()})"


def statement(dice, table, kind="any"):
    """Returns the text of a statement of a kind (`any`, `read`, `write`, `check` for the writes of
    transactions) and its parameters."""
    own = Statement(dice, table)
    if dice.random() < 0.08:
        return dice.choice(BROKEN).format(t=table.name), []
    makers = {
        "any": [own.select, own.select, own.get, own.insert, own.update, own.update, own.delete],
        "read": [own.get],
        "write": [own.insert, own.update, own.delete],
        "check": [own.insert, lambda: own.update(False), lambda: own.delete(False), own.exists],
    }
    return dice.choice(makers[kind])(), own.parameters
