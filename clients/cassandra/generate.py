"""Random tables and statements about them: mostly right ones, and every kind of wrong one.

Values come from small sets, so that rows, timestamps and elements meet. What the time of day
decides (writetime without a timestamp, now) is left out: two servers have two clocks. Where each
request says which second it is (protocol version 5), expiry is compared too.
"""

import re

import wire

SIMPLE = {
    "int": ["0", "1", "2", "-1", "2147483647"],
    "bigint": ["0", "1", "-5", "9223372036854775807"],
    "smallint": ["0", "1", "-3"],
    "tinyint": ["0", "1", "127"],
    "varint": ["0", "1", "-12345678901234567890"],
    "text": ["''", "'a'", "'b'", "'ab'", "'B'", "'é'"],
    "ascii": ["''", "'a'", "'Z'"],
    "blob": ["0x", "0x00", "0xff", "0x0102"],
    "boolean": ["true", "false"],
    "double": ["0", "1.5", "-2.25", "NaN", "Infinity"],
    "float": ["0", "1.5", "-2.25"],
    "date": ["'2020-01-02'", "'1969-12-31'", "0"],
    "time": ["'03:04:05'", "'00:00:00.000000001'"],
    "timestamp": ["0", "-1", "'2020-01-02 03:04:05+0000'", "'2021-06-07'"],
    "uuid": ["550e8400-e29b-41d4-a716-446655440000", "00000000-0000-1000-8000-000000000000"],
    "timeuuid": ["50554d6e-29bb-11e5-b345-feff819cdc9f", "00554d6e-29bb-11e6-7345-feff819cdc9f"],
    "inet": ["'127.0.0.1'", "'::1'", "'10.0.0.2'"],
    "duration": ["1h", "1mo2d", "0s"],
    "decimal": ["0", "1.5", "-2.25", "100"],
}
# Values of the other types that are refused, or are not: what is said is compared.
WRONG = ["'x'", "1", "1.5", "true", "0x01", "[1]", "{1}", "{1: 2}", "(1, 2)", "1h", "null",
         "{a: 1}", "-1", "''"]
KEYS = ["int", "int", "bigint", "text", "text", "blob", "boolean", "date", "timestamp", "uuid",
        "timeuuid", "inet", "double", "varint", "frozen<list<int>>", "tuple<int, text>"]
OTHERS = ["int", "int", "text", "bigint", "boolean", "double", "decimal", "timestamp", "duration",
          "blob", "list<int>", "set<text>", "map<text, int>", "frozen<list<int>>",
          "frozen<map<int, text>>", "tuple<int, text>", "pair", "frozen<pair>",
          "vector<float, 2>", "list<frozen<set<int>>>", "map<int, frozen<pair>>"]
COMPARISONS = ["=", "=", "=", "=", ">", "<", ">=", "<=", "!="]


def inside(kind):
    """The types between the outermost brackets."""
    parts, depth, at = [], 0, kind.index("<") + 1
    for place in range(at, len(kind)):
        depth += {"<": 1, ">": -1}.get(kind[place], 0)
        if depth < 0 or depth == 0 and kind[place] == ",":
            parts.append(kind[at:place].strip())
            at = place + 1
    return parts


class Column:
    def __init__(self, name, kind, role):
        self.name, self.kind, self.role = name, kind, role


FUNCTIONS = ["to_json({})", "CAST({} AS text)", "CAST({} AS int)", "CAST({} AS double)",
             "CAST({} AS date)", "CAST({} AS timestamp)", "mask_inner({}, 1, 1)", "mask_null({})",
             "mask_default({})", "round({})", "{} % 2", "{} * 2", "{} / 2", "collection_count({})",
             "collection_min({})", "collection_sum({})", "map_keys({})", "to_timestamp({})",
             "to_date({})", "to_unix_timestamp({})", "blob_as_int({})", "int_as_blob({})",
             "text_as_blob({})", "maxwritetime({})", "length({})"]
AGGREGATES = ["count", "min", "max", "sum", "avg"]


class Case:
    """A schema, and statements about it. `now` is the second that a request says it is, if any."""

    def __init__(self, dice, now):
        self.dice = dice
        self.version = wire.NEWER if dice.random() < 0.5 else wire.OLDER
        # Below it, Cassandra might throw away what is still asked for.
        self.now = now + 100_000 if self.version == wire.NEWER and dice.random() < 0.5 else None
        self.compact = dice.random() < 0.08
        self.words = None
        self.views, self.targets = [], ["t"]
        self.timed = dice.random() < 0.5
        self.counters = dice.random() < 0.1 and not self.compact
        self.partition = [Column(f"k{n}", self.key_type(), "partition")
                          for n in range(dice.choice([1, 1, 1, 2, 3]))]
        self.clustering = [Column(f"c{n}", self.key_type(), "clustering")
                           for n in range(dice.choice([0, 1, 1, 2, 2, 3]))]
        if self.compact:
            self.clustering = self.clustering or [Column("c0", "int", "clustering")]
        kinds = ["counter"] if self.counters else OTHERS
        if self.compact:
            kinds = ["int", "text", "blob", "frozen<list<int>>"]
        self.others = [Column(f"v{n}", dice.choice(kinds), "regular")
                       for n in range(1 if self.compact else dice.choice([1, 2, 3, 4]))]
        if self.clustering and dice.random() < 0.5 and not self.compact:
            self.others += [Column(f"s{n}", dice.choice(kinds), "static")
                            for n in range(dice.choice([1, 1, 2]))]
        self.fresh = 0

    def key_type(self):
        return self.dice.choice(KEYS if self.dice.random() < 0.4 else ["int", "text"])

    def schema(self):
        columns = [f"{own.name} {own.kind}" + (" static" if own.role == "static" else "")
                   for own in self.partition + self.clustering + self.others]
        key = ", ".join(own.name for own in self.partition)
        key = ", ".join([f"({key})", *(own.name for own in self.clustering)])
        text = f"CREATE TABLE t ({', '.join(columns)}, PRIMARY KEY ({key}))"
        if self.clustering and self.dice.random() < 0.5:
            order = ", ".join(f"{own.name} {self.dice.choice(['ASC', 'DESC'])}"
                              for own in self.clustering)
            text += f" WITH CLUSTERING ORDER BY ({order})"
        if self.compact:
            text += (" AND" if " WITH " in text else " WITH") + " COMPACT STORAGE"
        elif self.dice.random() < 0.1 and not self.counters:
            text += (" AND" if " WITH " in text else " WITH") + " default_time_to_live = 500"
        return ["CREATE TYPE pair (a int, b text)", text, *self.first_indexes()]

    def first_indexes(self):
        dice, out = self.dice, []
        if dice.random() < 0.4:
            for column in dice.sample(self.clustering + self.others, 1):
                out.append(f"CREATE INDEX first ON t ({self.target(column)})")
        if dice.random() < 0.3:
            column = dice.choice(self.clustering + self.others)
            out.append(f"CREATE CUSTOM INDEX second ON t ({self.target(column)}) USING 'sai'")
        if dice.random() < 0.25 and not self.counters and not self.compact:
            out += [self.view() for _ in range(dice.choice([1, 2]))]
        return out

    def target(self, column):
        plain = column.kind.startswith(("list<", "set<", "map<"))
        if column.kind.startswith("frozen<") and self.dice.random() < 0.8:
            return f"full({column.name})"
        if plain and self.dice.random() < 0.8:
            kinds = ["keys", "values", "entries"] if column.kind.startswith("map<") else ["values"]
            return f"{self.dice.choice(kinds)}({column.name})"
        return column.name

    def view(self):
        dice = self.dice
        key = self.partition + self.clustering
        simple = [own for own in self.others if own.role == "regular" and own.kind in SIMPLE]
        added = [dice.choice(simple)] if simple and dice.random() < 0.6 else []
        key = dice.sample(key + added, len(key) + len(added))
        if dice.random() < 0.05:
            key = key[1:]
        where = " AND ".join(f"{own.name} IS NOT NULL" for own in key)
        names = ", ".join(own.name for own in key)
        rest = [own.name for own in self.others if own.role == "regular" and dice.random() < 0.6]
        chosen = "*" if dice.random() < 0.5 else ", ".join(dict.fromkeys(
            [own.name for own in key] + rest))
        name = f"w{len(self.views)}"
        self.views.append(name)
        return (f"CREATE MATERIALIZED VIEW {name} AS SELECT {chosen} FROM t WHERE {where} "
                f"PRIMARY KEY ({names})")

    # Values.

    def value(self, kind):
        dice = self.dice
        if kind in SIMPLE:
            return dice.choice(SIMPLE[kind][:3] if dice.random() < 0.6 else SIMPLE[kind])
        if kind == "counter":
            return str(dice.randrange(-3, 4))
        if kind == "pair":
            return dice.choice(["{a: 1, b: 'x'}", "{a: 1}", "{b: 'y'}", "{a: null, b: 'x'}"])
        if kind.startswith("frozen<"):
            return self.value(inside(kind)[0])
        parts = inside(kind)
        if kind.startswith("vector<"):
            return "[" + ", ".join(self.value(parts[0]) for _ in range(int(parts[1]))) + "]"
        if kind.startswith("tuple<"):
            return "(" + ", ".join(self.value(own) for own in parts) + ")"
        count = dice.choice([0, 1, 1, 2, 3])
        if kind.startswith("map<"):
            # Which of two equal keys counts is up to a hash table of Cassandra's.
            pairs = {self.value(parts[0]): self.value(parts[1]) for _ in range(count)}
            return "{" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}"
        items = ", ".join(self.value(parts[0]) for _ in range(count))
        return f"[{items}]" if kind.startswith("list<") else f"{{{items}}}"

    def term(self, column):
        roll = self.dice.random()
        if roll < 0.03:
            return self.dice.choice(WRONG)
        if roll < 0.08 and column.role in ("regular", "static"):
            return self.bound(column.kind, "null")
        return self.bound(column.kind, self.value(column.kind))

    def bound(self, kind, text):
        """The value itself, or a mark that stands for a bind marker with it."""
        if self.words is None or self.dice.random() < 0.4:
            return text
        word = text
        if kind in ("text", "ascii"):
            word = text.strip("'")
            if text != "null" and word in ("", "null", "unset"):
                return text
        elif kind not in ("int", "bigint", "smallint", "tinyint", "varint", "boolean", "blob",
                          "uuid", "timeuuid"):
            return text
        if self.dice.random() < 0.03:
            word = self.dice.choice(["unset", "null"])
        self.words.append(word)
        return f"\0{len(self.words) - 1}\0"

    def using(self, ttl=True):
        parts = []
        if self.timed and self.dice.random() < 0.97:
            parts.append(f"TIMESTAMP {self.dice.randrange(1, 30)}")
        if ttl and self.dice.random() < (0.05 if self.now is None else 0.3):
            times = [0, 100000, 200000] if self.now is None else [1, 5, 30, 60, 300, 0]
            parts.append(f"TTL {self.dice.choice(times)}")
        return f" USING {' AND '.join(parts)}" if parts else ""

    # Statements.

    def statement(self):
        """A statement's text, values to bind or None, and the size of a page or None."""
        if self.now is not None and self.dice.random() < 0.2:
            self.now += self.dice.choice([1, 4, 20, 100])
        self.words = [] if self.dice.random() < 0.25 else None
        text, _, page = self.plain_statement()
        if self.words is None:
            return text, None, page
        order = [int(number) for number in re.findall("\0(\\d+)\0", text)]
        return re.sub("\0\\d+\0", "?", text), [self.words[number] for number in order], page

    def plain_statement(self):
        dice = self.dice
        roll = dice.random()
        if roll < 0.45:
            text = self.select()
            often = 0.5 if "GROUP BY" in text else 0.15
            page = dice.choice([1, 2, 3]) if dice.random() < often else None
            return text, None, page
        if roll < 0.93:
            return self.modification(), None, None
        if roll < 0.96:
            kind = dice.choice(["", "UNLOGGED ", "COUNTER " if self.counters else ""])
            parts = "; ".join(self.modification(conditional=False)
                              for _ in range(dice.randrange(1, 4)))
            using = ""
            if dice.random() < 0.2:
                using = f"USING TIMESTAMP {dice.randrange(1, 30)} "
                if dice.random() < 0.9:
                    parts = re.sub(r" USING TIMESTAMP \d+(?: AND (TTL \d+))?",
                                   lambda found: f" USING {found[1]}" if found[1] else "", parts)
            if dice.random() < 0.1 and not self.counters:
                parts += "; " + self.modification()
            return f"BEGIN {kind}BATCH {using}{parts}; APPLY BATCH", None, None
        return self.change(), None, None

    def learn(self, text, accepted):
        """Takes note of a change of the schema that was accepted."""
        words = text.split()
        if accepted and words[:3] == ["CREATE", "MATERIALIZED", "VIEW"]:
            self.targets.append(words[3])
        if not accepted or words[:2] != ["ALTER", "TABLE"]:
            return
        if words[3] == "RENAME":
            for own in self.partition + self.clustering:
                own.name = words[6] if own.name == words[4] else own.name
        elif words[3] == "ADD":
            role = "static" if words[-1] == "static" else "regular"
            kind = " ".join(words[5:-1] if role == "static" else words[5:])
            self.others.append(Column(words[4], kind, role))
        elif words[3] == "DROP":
            self.others = [own for own in self.others if own.name != words[4]]

    def change(self):
        dice = self.dice
        columns = self.partition + self.clustering + self.others
        column = dice.choice(columns).name
        self.fresh += 1
        kind = dice.choice(OTHERS)
        return dice.choice([
            f"CREATE INDEX i{self.fresh} ON t ({column})",
            f"CREATE INDEX ON t ({dice.choice(['keys', 'values', 'entries', 'full'])}({column}))",
            f"DROP INDEX i{dice.randrange(self.fresh + 1)}",
            f"ALTER TABLE t ADD n{self.fresh} {kind}",
            f"ALTER TABLE t ADD m{self.fresh} {kind} static",
            f"ALTER TABLE t DROP {column}",
            f"ALTER TABLE t ADD {column} {kind}",
            f"ALTER TABLE t RENAME {column} TO r{self.fresh}",
            f"ALTER TABLE t WITH default_time_to_live = {dice.choice([0, 0, 400])}",
            f"ALTER TYPE pair ADD f{self.fresh} {dice.choice(['int', 'text', 'list<int>'])}",
            f"CREATE CUSTOM INDEX ON t ({column}) USING 'sai'",
            self.view(),
            "TRUNCATE t",
            "DESCRIBE TABLE t",
            "DESCRIBE KEYSPACE",
            "DESCRIBE TYPE pair",
            "DESCRIBE INDEX first",
            f"DESCRIBE MATERIALIZED VIEW {dice.choice(self.views or ['w0'])}",
            "SELECT column_name, clustering_order, kind, position, type FROM "
            "system_schema.columns WHERE keyspace_name = 'random_tables' AND table_name = 't'",
        ])

    def modification(self, conditional=True):
        roll = self.dice.random()
        if self.counters:
            return self.count_up() if roll < 0.8 and self.others else self.delete(False)
        if roll < 0.45:
            return self.insert(conditional)
        if roll < 0.75:
            return self.update(conditional)
        return self.delete(conditional)

    def count_up(self):
        column = self.dice.choice(self.others)
        sign = self.dice.choice("+-")
        keys = self.partition + (self.clustering if column.role == "regular" else [])
        where = " AND ".join(f"{own.name} = {self.term(own)}" for own in keys)
        return f"UPDATE t SET {column.name} = {column.name} {sign} {self.term(column)} WHERE {where}"

    def insert(self, conditional):
        dice = self.dice
        others = [own for own in self.others if dice.random() < 0.6]
        keys = self.partition + self.clustering
        if dice.random() < 0.1:
            keys = self.partition
            others = [own for own in others if own.role == "static"]
        if dice.random() < 0.03:
            keys = keys[1:]
        if dice.random() < 0.06 and conditional:
            pairs = ", ".join(f'"{own.name}": {self.json(own)}' for own in keys + others)
            pairs = pairs.replace("'", "''")
            tail = dice.choice(["", "", " DEFAULT UNSET", " DEFAULT NULL", " IF NOT EXISTS"])
            using = "" if "IF" in tail else self.using()
            return f"INSERT INTO t JSON '{{{pairs}}}'{tail}{using}"
        names = ", ".join(own.name for own in keys + others)
        values = ", ".join(self.term(own) for own in keys + others)
        text = f"INSERT INTO t ({names}) VALUES ({values})"
        if conditional and dice.random() < 0.08:
            return f"{text} IF NOT EXISTS"
        return text + self.using()

    def json(self, column):
        if self.dice.random() < 0.7 and (own := self.json_of(column.kind)) is not None:
            return own
        return self.dice.choice(['1', '"a"', '[1, 2]', '{"a": 1}', 'null', '1.5', 'true', '"1"',
                                 '"2020-01-02"', '"0x01"'])

    def json_of(self, kind):
        """A value of this type as JSON, where that is easy to say."""
        kind = inside(kind)[0] if kind.startswith("frozen<") else kind
        if kind in ("int", "bigint", "smallint", "tinyint", "varint", "boolean", "decimal"):
            return self.value(kind)
        if kind in SIMPLE and kind not in ("double", "float", "date", "timestamp", "duration"):
            return '"' + self.value(kind).strip("'") + '"'
        if kind == "pair":
            return self.dice.choice(['{"a": 1, "b": "x"}', '{"a": null}', '{}', '{"B": "x"}'])
        if kind.startswith(("list<", "set<", "tuple<", "vector<")):
            parts = inside(kind)
            parts = parts if kind.startswith("tuple<") else parts[:1] * self.dice.choice([0, 1, 2])
            items = [self.json_of(own) for own in parts]
            return None if None in items else f"[{', '.join(items)}]"
        if kind.startswith("map<"):
            key, value = (self.json_of(own) for own in inside(kind))
            if key is None or value is None:
                return None
            key = key.strip('"')
            return self.dice.choice(["{}", f'{{"{key}": {value}}}'])
        return None

    def assignment(self, column):
        dice = self.dice
        name, kind = column.name, column.kind
        roll = dice.random()
        if kind.startswith(("list<", "set<", "map<")) and roll < 0.6:
            parts = inside(kind)
            if kind.startswith("map<"):
                return dice.choice([
                    f"{name}[{self.value(parts[0])}] = {self.term(Column('', parts[1], 'x'))}",
                    f"{name} = {name} + {self.value(kind)}",
                    f"{name} = {name} - {self.value(f'set<{parts[0]}>')}",
                ])
            if kind.startswith("set<"):
                return f"{name} = {name} {dice.choice('+-')} {self.value(kind)}"
            return dice.choice([
                f"{name} = {name} + {self.value(kind)}",
                f"{name} = {self.value(kind)} + {name}",
                f"{name} = {name} - {self.value(kind)}",
                f"{name}[{dice.choice([0, 0, 1, 5, -1])}] = {self.value(parts[0])}",
            ])
        if kind == "pair" and roll < 0.6:
            return dice.choice([f"{name}.a = {dice.choice(['1', '2', 'null'])}", f"{name}.b = 'z'"])
        return f"{name} = {self.term(column)}"

    def update(self, conditional):
        dice = self.dice
        chosen = [own for own in self.others if dice.random() < 0.5] or self.others[:1]
        if not chosen:
            return self.insert(conditional)
        if dice.random() < 0.9 and any(own.role == "static" for own in chosen):
            chosen = [own for own in chosen if own.role == "static"]
        only_static = all(own.role == "static" for own in chosen)
        sets = ", ".join(self.assignment(own) for own in chosen)
        keys = self.partition + ([] if only_static and dice.random() < 0.95 else self.clustering)
        where = " AND ".join(self.key_relation(own) for own in keys)
        tail = self.conditions() if conditional and dice.random() < 0.15 else None
        using = self.using() if tail is None else ""
        return f"UPDATE t{using} SET {sets} WHERE {where}{tail or ''}"

    def key_relation(self, column):
        if self.dice.random() < 0.06:
            return f"{column.name} IN ({self.term(column)}, {self.term(column)})"
        return f"{column.name} = {self.term(column)}"

    def conditions(self):
        dice = self.dice
        if dice.random() < 0.3 or not self.others:
            return " IF EXISTS"
        chosen = [dice.choice(self.others) for _ in range(dice.choice([1, 1, 2]))]
        return " IF " + " AND ".join(self.condition(own) for own in chosen)

    def condition(self, own):
        dice, name = self.dice, own.name
        forms = [f"{name} {dice.choice(COMPARISONS)} {self.term(own)}", f"{name} = null",
                 f"{name} IN ({self.term(own)}, {self.term(own)})"]
        if own.kind.startswith(("list<", "set<", "map<")) and dice.random() < 0.7:
            parts = inside(own.kind)
            value = self.value(parts[-1])
            key = self.value(parts[0]) if own.kind.startswith("map<") else dice.choice("0123")
            sign = dice.choice(COMPARISONS)
            forms = [f"{name}[{key}] {sign} {value}", f"{name}[{key}] = null",
                     f"{name}[{key}] IN ({value}, {self.value(parts[-1])})",
                     f"{name} CONTAINS {value}", f"{name} CONTAINS KEY {key}"]
        if own.kind in ("pair", "frozen<pair>") and dice.random() < 0.7:
            forms = [f"{name}.a {dice.choice(COMPARISONS)} 1", f"{name}.b IN ('x', 'y')",
                     f"{name}.a = null"]
        return dice.choice(forms)

    def delete(self, conditional):
        dice = self.dice
        roll = dice.random()
        where = [self.key_relation(own) for own in self.partition]
        if roll < 0.35 and self.others:
            column = dice.choice(self.others)
            target = column.name
            if dice.random() < 0.4 and column.kind.startswith(("list<", "set<", "map<")):
                key = "0" if column.kind.startswith("list<") else self.value(inside(column.kind)[0])
                target += f"[{key}]"
            elif dice.random() < 0.4 and column.kind == "pair":
                target += ".a"
            if column.role == "regular":
                where += [self.key_relation(own) for own in self.clustering]
            head = f"DELETE {target} FROM t"
        else:
            head = "DELETE FROM t"
            where += self.clustering_relations()
        tail = self.conditions() if conditional and dice.random() < 0.1 else None
        using = self.using(ttl=False) if tail is None else ""
        return f"{head}{using} WHERE {' AND '.join(where)}{tail or ''}"

    # WHERE of SELECT and DELETE.

    def clustering_relations(self):
        dice = self.dice
        out, count = [], dice.randrange(len(self.clustering) + 1)
        for own in self.clustering[:count]:
            out.append(self.key_relation(own))
        rest = self.clustering[count:]
        if rest and dice.random() < 0.4:
            own = rest[0]
            if len(rest) > 1 and dice.random() < 0.5:
                some = rest[:dice.choice([2, 2, len(rest)])]
                names = ", ".join(own.name for own in some)
                tuples = [", ".join(self.term(own) for own in some) for _ in range(2)]
                if dice.random() < 0.3:
                    out.append(f"({names}) IN (({tuples[0]}), ({tuples[1]}))")
                else:
                    out.append(f"({names}) {dice.choice(COMPARISONS)} ({tuples[0]})")
                    if dice.random() < 0.3:
                        fewer = some[:dice.choice([1, len(some)])]
                        names = ", ".join(own.name for own in fewer)
                        values = ", ".join(self.term(own) for own in fewer)
                        out.append(f"({names}) {dice.choice(['<', '<=', '>'])} ({values})")
            else:
                out.append(f"{own.name} {dice.choice(['>', '>=', '<', '<='])} {self.term(own)}")
                if dice.random() < 0.3:
                    out.append(f"{own.name} {dice.choice(['>', '>=', '<', '<='])} "
                               f"{self.term(own)}")
        elif len(rest) > 1 and dice.random() < 0.1:
            out.append(f"{rest[1].name} = {self.term(rest[1])}")
        return out

    def other_relation(self):
        dice = self.dice
        column = dice.choice(self.partition + self.clustering + self.others)
        name, kind = column.name, column.kind
        plain = kind.removeprefix("frozen<")
        if plain.startswith(("list<", "set<", "map<")) and dice.random() < 0.7:
            parts = inside(plain.rstrip(">") + ">" if kind != plain else kind)
            if plain.startswith("map<"):
                return dice.choice([
                    f"{name} CONTAINS {self.value_or_wrong(parts[-1])}",
                    f"{name} CONTAINS KEY {self.value_or_wrong(parts[0])}",
                    f"{name}[{self.value_or_wrong(parts[0])}] = {self.value_or_wrong(parts[-1])}",
                ])
            return f"{name} CONTAINS {self.value_or_wrong(parts[0])}"
        return f"{name} {dice.choice(COMPARISONS)} {self.term(column)}"

    def value_or_wrong(self, kind):
        try:
            return self.value(kind)
        except (KeyError, ValueError):
            return "1"

    def select(self):
        dice = self.dice
        where = []
        roll = dice.random()
        if roll < 0.5:
            where = [self.key_relation(own) for own in self.partition]
            where += self.clustering_relations()
        elif roll < 0.6:
            names = ", ".join(own.name for own in self.partition)
            values = ", ".join(self.term(own) for own in self.partition)
            where = [f"token({names}) {dice.choice(['>', '<=', '='])} token({values})"]
            if dice.random() < 0.3:
                where.append(f"token({names}) {dice.choice(['<', '<='])} "
                             f"{dice.choice(['0', '9223372036854775807', '-9223372036854775808'])}")
            if dice.random() < 0.1:
                where += [self.key_relation(own) for own in self.partition]
        if dice.random() < 0.3:
            where += [self.other_relation() for _ in range(dice.choice([1, 1, 2]))]
        dice.shuffle(where)
        text = f"SELECT {self.selection()} FROM {dice.choice([*self.targets, 't', 't'])}"
        if where:
            text += f" WHERE {' AND '.join(where)}"
        if dice.random() < 0.1:
            keys = self.partition + self.clustering
            names = [own.name for own in keys[:dice.randrange(1, len(keys) + 1)]]
            if keys[len(names) - 1].kind in ("timestamp", "date") and dice.random() < 0.5:
                names[-1] = f"floor({names[-1]}, {dice.choice(['1d', '1h', '2mo'])})"
            text += f" GROUP BY {', '.join(names)}"
        if self.clustering and dice.random() < 0.2:
            order = [f"{own.name} {dice.choice(['ASC', 'DESC'])}"
                     for own in self.clustering[:dice.randrange(1, 3)]]
            text += f" ORDER BY {', '.join(order)}"
        if dice.random() < 0.1:
            text += f" PER PARTITION LIMIT {dice.choice([1, 2])}"
        if dice.random() < 0.15:
            text += f" LIMIT {dice.choice([1, 2, 5, 0])}"
        if dice.random() < 0.4:
            text += " ALLOW FILTERING"
        return text

    def selection(self):
        dice = self.dice
        columns = self.partition + self.clustering + self.others
        roll = dice.random()
        if roll < 0.5:
            return "*"
        if roll < 0.6:
            return "JSON *"
        if roll < 0.67:
            names = [own.name for own in self.partition]
            names += [own.name for own in self.others if own.role == "static"]
            return "DISTINCT " + ", ".join(names)
        if roll < 0.75:
            calls = [f"{dice.choice(AGGREGATES)}({self.selector(dice.choice(columns))})"
                     for _ in range(dice.choice([1, 1, 2]))]
            return ", ".join(calls + dice.choice([[], ["count(*)"], [columns[0].name]]))
        return ", ".join(self.selector(dice.choice(columns)) for _ in range(dice.choice([1, 2, 3])))

    def selector(self, column):
        dice = self.dice
        name, kind = column.name, column.kind
        forms = [name, name, name, f"to_json({name})", f"CAST({name} AS text)"]
        if kind.startswith(("map<", "set<")):
            key = self.value(inside(kind)[0])
            forms += [f"{name}[{key}]", f"{name}[{key}..]"]
        if kind in ("pair", "frozen<pair>"):
            forms += [f"{name}.a"]
        if self.timed and dice.random() < 0.3:
            forms += [f"writetime({name})"]
        if kind in ("int", "bigint", "double", "decimal"):
            forms += [f"{name} + 1", f"-{name}", f"abs({name})"]
        if self.now is not None and column.role in ("regular", "static"):
            forms += [f"ttl({name})"] * 2
        if dice.random() < 0.15:
            inner = dice.choice(FUNCTIONS).format(name)
            forms = [inner, dice.choice(FUNCTIONS).format(inner), f"{inner} AS a"]
        return dice.choice(forms)
