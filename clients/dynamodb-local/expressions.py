"""Random expressions of every function and operator, with the names and values that they use.

One `Expressions` belongs to one request: its expressions share the maps of names and values.
"""

from values import FIELDS, NAMES, RESERVED, TYPES, Values

COMPARATORS = ["=", "<>", "<", "<=", ">", ">="]
# Texts that no parser takes, or that mean something else than they seem to.
BROKEN = ["", " ", "a", "a =", "a = :v0 AND", "(a = :v0", "a = = :v0", "a IN ()",
          "a BETWEEN :v0", "NOT", "size(a)", "unknown(a)", "a = 1", "a = 'x'",
          "attribute_exists(:v0)", "attribute_type(a, b)", "contains(a)", "a.b. = :v0",
          "a[x] = :v0", "a[-1] = :v0", "#nope = :v0", "a = :nope", ":v0 = :v0", "a = a",
          "a <> a", "a..b = :v0", "SET a = :v0", "a = :v0 a = :v0", "begins_with(a, b, c)",
          "size(a) = size(b)", "NOT NOT a = :v0", "((a = :v0))", "# = :v0", ": = a", "a = :v0,",
          "AND a = :v0", "a BETWEEN :v0 AND", "a = size(size(a))", "name = :v0",
          "attribute_exists(a) = :v0", "a[0][1] = :v0", "contains(:v0, a)",
          "begins_with(:v0, a)"]
BROKEN_UPDATES = ["", "SET", "SET a", "SET a =", "SET a = :v0 SET b = :v0", "REMOVE", "ADD a",
                  "SET a = :v0, a = :v0", "SET a = :v0 REMOVE a", "SET m.x = :v0, m = :v0",
                  "a = :v0", "SET a = b + c + d", "SET a = list_append(a)",
                  "SET a = if_not_exists(:v0, a)", "SET a = unknown(a)", "ADD a b", "DELETE a b",
                  "REMOVE a = :v0", "SET a + :v0", "SET a = :v0,", "set a = :v0",
                  "SET a = :v0 + :nope", "SET name = :v0", "SET a = size(b)", "SET a = (b)",
                  "SET a = -:v0", "REMOVE l[0], l[0]", "ADD m.x :v0 SET m.x = :v0",
                  "SET a = if_not_exists(a, :v0) + if_not_exists(b, :v0)", "UPDATE a = :v0",
                  "SET a = list_append(:v0, list_append(a, :v0))", "SET a[0] = :v0",
                  "REMOVE a REMOVE b", "SET l[99] = :v0", "SET a.b.c = :v0", "SET a = b - :v0"]


class Expressions:
    """Draws expressions about the attributes of `table`, or about none in particular."""

    def __init__(self, dice, table):
        self.dice = dice
        self.table = table
        self.values_of = Values(dice)
        self.names, self.values, self.fresh = {}, {}, []

    def members(self):
        """Returns the members of the request that hold names and values."""
        out = {}
        if self.names:
            out["ExpressionAttributeNames"] = self.names
        if self.values:
            out["ExpressionAttributeValues"] = self.values
        return out

    # Paths and values.

    def name(self, name):
        if name in RESERVED or self.dice.random() < 0.25:
            mark = f"#{name}"
            self.names[mark] = name
            return mark
        return name

    def value(self, value):
        for mark, other in self.values.items():
            if other == value and self.dice.random() < 0.8:
                return mark
        mark = f":v{len(self.values)}"
        self.values[mark] = value
        return mark

    def top(self):
        """Returns the name of an attribute, mostly of one that is no key."""
        dice = self.dice
        if dice.random() < 0.15:
            return dice.choice(self.table.key_names())
        if dice.random() < 0.15 and self.table.indexed():
            return dice.choice(self.table.indexed())
        return dice.choice(NAMES)

    def path(self, top=None):
        top = top or self.top()
        out, dice = self.name(top), self.dice
        while dice.random() < (0.5 if top in ("m", "l") else 0.1):
            if top == "l" or dice.random() < 0.3:
                out += f"[{dice.choice([0, 0, 1, 2])}]"
            else:
                out += f".{self.name(dice.choice(FIELDS))}"
            top = "m"
        return out

    def likely(self, top):
        """Returns a value that the attribute may have."""
        if top in self.table.kinds and self.dice.random() < 0.9:
            return self.values_of.key(self.table.kinds[top])
        return self.values_of.named(top)

    def operand(self, top):
        dice = self.dice
        roll = dice.random()
        if roll < 0.7:
            return self.value(self.likely(top))
        if roll < 0.85:
            return self.path()
        return f"size({self.path()})"

    # Conditions.

    def condition(self, depth=0):
        dice = self.dice
        roll = dice.random()
        if depth < 3 and roll < 0.3:
            word = dice.choice(["AND", "OR"])
            return f"{self.condition(depth + 1)} {word} {self.condition(depth + 1)}"
        if depth < 3 and roll < 0.4:
            return f"NOT {self.condition(depth + 1)}"
        if depth < 3 and roll < 0.45:
            return f"({self.condition(depth + 1)})"
        return self.simple()

    def simple(self):
        dice = self.dice
        top = self.top()
        path = self.path(top)
        match dice.randrange(9):
            case 0:
                return f"attribute_exists({path})"
            case 1:
                return f"attribute_not_exists({path})"
            case 2:
                kind = dice.choice(TYPES) if dice.random() < 0.95 else "X"
                return f"attribute_type({path}, {self.value({'S': kind})})"
            case 3:
                kinds = ["S", "B"] if dice.random() < 0.9 else TYPES
                return f"begins_with({path}, {self.value(self.values_of.any(kinds=kinds))})"
            case 4:
                kinds = ["S", "N", "B"] if dice.random() < 0.8 else TYPES
                return f"contains({path}, {self.value(self.values_of.any(kinds=kinds))})"
            case 5:
                return f"{path} BETWEEN {self.operand(top)} AND {self.operand(top)}"
            case 6:
                operands = [self.operand(top) for _ in range(dice.choice([1, 2, 3]))]
                return f"{path} IN ({', '.join(operands)})"
            case 7:
                size = self.value({"N": dice.choice(["0", "1", "2", "3"])})
                return f"size({path}) {dice.choice(COMPARATORS)} {size}"
            case _:
                return f"{path} {dice.choice(COMPARATORS)} {self.operand(top)}"

    # Updates.

    def update(self):
        dice = self.dice
        out = []
        self.fresh = dice.sample(NAMES, len(NAMES))
        for section in dice.sample(["SET", "REMOVE", "ADD", "DELETE"], dice.choice([1, 1, 2, 3])):
            actions = [getattr(self, f"action_{section.lower()}")()
                       for _ in range(dice.choice([1, 1, 2]))]
            out.append(f"{section} {', '.join(actions)}")
        return " ".join(out)

    def target(self):
        """Returns an attribute to change, mostly one that no other action changes."""
        if self.dice.random() < 0.07:
            return self.top()
        if self.table.indexed() and self.dice.random() < 0.1:
            return self.dice.choice(self.table.indexed())
        return self.fresh.pop() if self.fresh else self.dice.choice(NAMES)

    def action_set(self):
        dice = self.dice
        top = self.target()
        path = self.path(top)
        match dice.randrange(6):
            case 0:
                own = self.value({"N": dice.choice(["1", "-1", "0.5"])})
                return f"{path} = {self.path('a')} {dice.choice('+-')} {own}"
            case 1:
                own = self.value({"L": [self.values_of.any()]})
                words = dice.sample([self.path("l"), own], 2)
                return f"{path} = list_append({', '.join(words)})"
            case 2:
                return f"{path} = if_not_exists({self.path()}, {self.value(self.likely(top))})"
            case 3:
                zero, one = self.value({"N": "0"}), self.value({"N": "1"})
                return f"{path} = if_not_exists({self.path('a')}, {zero}) + {one}"
            case 4:
                return f"{path} = {self.path()}"
            case _:
                return f"{path} = {self.value(self.likely(top))}"

    def action_remove(self):
        return self.path(self.target())

    def action_add(self):
        kinds = ["N", "NS", "SS", "BS"] if self.dice.random() < 0.9 else TYPES
        return f"{self.path(self.target())} {self.value(self.values_of.any(kinds=kinds))}"

    def action_delete(self):
        kinds = ["NS", "SS", "BS"] if self.dice.random() < 0.9 else TYPES
        return f"{self.path(self.target())} {self.value(self.values_of.any(kinds=kinds))}"

    # The rest.

    def projection(self):
        tops = self.dice.sample(NAMES + self.table.key_names(), self.dice.choice([1, 2, 3]))
        return ", ".join(self.path(top) for top in tops)

    def key_condition(self, hashes, ranges):
        """Returns a condition on a key: all of `hashes`, some of `ranges`."""
        dice = self.dice
        parts = [f"{self.name(name)} = {self.key(name)}" for name in hashes]
        used = dice.randrange(len(ranges) + 1)
        for place, name in enumerate(ranges[:used]):
            if place + 1 < used:
                parts.append(f"{self.name(name)} = {self.key(name)}")
            else:
                parts.append(self.range_condition(name))
        if dice.random() < 0.2:
            dice.shuffle(parts)
        return " AND ".join(parts)

    def key(self, name):
        return self.value(self.values_of.key(self.table.kinds[name]))

    def range_condition(self, name):
        dice = self.dice
        path = self.name(name)
        match dice.randrange(4):
            case 0 if self.table.kinds[name] != "N" or dice.random() < 0.1:
                return f"begins_with({path}, {self.key(name)})"
            case 1:
                return f"{path} BETWEEN {self.key(name)} AND {self.key(name)}"
            case 2:
                return f"{path} = {self.key(name)}"
            case _:
                return f"{path} {dice.choice(['<', '<=', '>', '>='])} {self.key(name)}"

    def broken(self, texts):
        """Returns a text that is mostly refused, with a value for its marks."""
        self.values.setdefault(":v0", self.values_of.any())
        return self.dice.choice(texts)
