"""Random attribute values: of every type, nested, mostly right ones, and every kind of wrong one.

They come from small sets, so that items meet and comparisons are true now and then.
"""

KEYS = {
    "S": ["a", "b", "ab", "B", "é", "a b"],
    "N": ["0", "1", "-1", "1.5", "2", "10"],
    "B": ["AA==", "AQ==", "AQI=", "/w=="],
}
TEXTS = KEYS["S"] + ["", "abc", "x", "1"]
NUMBERS = KEYS["N"] + ["01", "1.0", "1e2", "-0", "100", "0.001", "-2.50", "12345678901234567890",
                       "9" * 38, "1E125", "-1E-130"]
BLOBS = KEYS["B"] + ["", "YWI="]
# Names of the attributes that are no keys; two of them are reserved words.
NAMES = ["a", "b", "c", "d", "m", "l", "name", "size"]
RESERVED = {"name", "size"}
FIELDS = ["x", "y", "a"]
TYPES = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"]
DEPTH_MAX = 3

WRONG = [{}, {"S": 1}, {"N": 1}, {"S": "a", "N": "1"}, {"N": "x"}, {"N": ""}, {"N": "1" * 39},
         {"N": "1E126"}, {"N": "1E-131"}, {"N": "NaN"}, {"N": " 1"}, {"N": "0x1"}, {"SS": []},
         {"NS": []}, {"BS": []}, {"SS": ["a", "a"]}, {"NS": ["1", "1.0"]},
         {"BS": ["AA==", "AA=="]}, {"NS": ["x"]}, {"B": "?"}, {"B": "A"}, {"NULL": False},
         {"BOOL": "true"}, {"X": "a"}, {"L": [{}]}, {"M": {"x": {}}}, {"M": {"": {"S": "a"}}},
         {"L": {"S": "a"}}, {"SS": [""]}, {"SS": [1]}, "a", None, {"S": None}, {"L": None},
         {"L": [None]}, {"NULL": True, "S": "a"}, {"N": "1e"}, {"N": "+1"}]


class Values:
    """Draws values from `dice`."""

    def __init__(self, dice):
        self.dice = dice

    def key(self, kind):
        """Returns a value for a key of the type."""
        return {kind: self.dice.choice(KEYS[kind])}

    def wrong(self):
        """Returns a value that is refused, mostly."""
        return self.dice.choice(WRONG)

    def any(self, depth=0, kinds=TYPES):
        """Returns a value of one of the types."""
        dice = self.dice
        kind = dice.choice(["S", "N"] if depth >= DEPTH_MAX else kinds)
        if kind == "L":
            return {"L": [self.any(depth + 1) for _ in range(dice.randrange(4))]}
        if kind == "M":
            names = dice.sample(FIELDS, dice.randrange(len(FIELDS) + 1))
            return {"M": {name: self.any(depth + 1) for name in names}}
        if kind == "SS":
            return {"SS": dice.sample(TEXTS, dice.choice([1, 2, 3]))}
        if kind == "NS":
            return {"NS": dice.sample(KEYS["N"], dice.choice([1, 2, 3]))}
        if kind == "BS":
            return {"BS": dice.sample(BLOBS, dice.choice([1, 2]))}
        simple = {"S": TEXTS, "N": NUMBERS, "B": BLOBS, "BOOL": [True, False], "NULL": [True]}
        return {kind: dice.choice(simple[kind])}

    def named(self, name):
        """Returns a value for an attribute: `m` is mostly a map, `l` a list, `c` a set."""
        likely = {"m": ["M"], "l": ["L"], "c": ["SS", "NS"], "a": ["N"], "b": ["S"]}.get(name)
        return self.any(kinds=likely if likely and self.dice.random() < 0.8 else TYPES)

    def attributes(self):
        """Returns the attributes of an item that are no keys."""
        names = self.dice.sample(NAMES, self.dice.randrange(6))
        return {name: self.named(name) for name in names}
