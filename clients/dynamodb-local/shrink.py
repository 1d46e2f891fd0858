"""Makes a difference small: fewer items, and a request without what it does not need.

A smaller scenario is kept if it shows a difference of the same kind.
"""

import copy

TRIES_MAX = 250
EXPRESSION = ("Expression", "Statement")


class Budget:
    """How many more scenarios may be tried."""

    def __init__(self):
        self.left = TRIES_MAX

    def spend(self):
        self.left -= 1
        return self.left >= 0


def shrink(both, create, items, operation, body, found):
    """Returns the difference and a small scenario: the table, puts of its items, the request."""
    best = found

    def same(items, body):
        nonlocal best
        both.renew(create, items)
        again = both.differs(operation, body)
        if again and again.kind() == found.kind():
            best = again
            return True
        return False

    budget = Budget()
    if same(items, body):
        if same([], body):
            items = []
        items = fewer(items, lambda some: budget.spend() and same(some, body))
        body = smaller(body, lambda other: budget.spend() and same(items, other))
    puts = [("PutItem", {"TableName": create["TableName"], "Item": item}) for item in items]
    return best, [("CreateTable", create), *puts, (operation, body)]


def shrink_stream(both, create, history, found):
    """Returns the difference of two streams and few writes that lead to it."""
    best = found

    def same(writes):
        nonlocal best
        both.renew(create)
        for operation, body in writes:
            both.compare(operation, body)
        again = both.streams_differ()
        if again and again.kind() == found.kind():
            best = again
            return True
        return False

    budget = Budget()
    writes = fewer(list(history), lambda some: budget.spend() and same(some))
    return best, [("CreateTable", create), *writes]


def fewer(things, keeps):
    """Leaves out halves, then quarters, … of a list, as long as the difference stays."""
    size = max(1, len(things) // 2)
    while things:
        place = 0
        while place < len(things):
            some = things[:place] + things[place + size:]
            if keeps(some):
                things = some
            else:
                place += size
        if size == 1:
            break
        size //= 2
    return things


def smaller(body, keeps):
    """Leaves out members, elements and words of expressions, as long as the difference stays."""
    changed = True
    while changed:
        changed = False
        for other in simpler(body):
            if keeps(other):
                body, changed = other, True
                break
    return body


def simpler(body):
    """Yields bodies that are a little smaller."""
    for path in paths(body):
        out = copy.deepcopy(body)
        holder = at(out, path[:-1])
        del holder[path[-1]]
        yield out
    for path in paths(body):
        node = at(body, path)
        if isinstance(node, str) and str(path[-1]).endswith(EXPRESSION):
            yield from fewer_words(body, path, node)


def fewer_words(body, path, text):
    words = text.split(" ")
    for size in (8, 4, 3, 2, 1):
        for place in range(len(words)):
            out = copy.deepcopy(body)
            at(out, path[:-1])[path[-1]] = " ".join(words[:place] + words[place + size:])
            yield out


def paths(node, path=()):
    """Yields the paths of everything in a body, the outer ones first."""
    if not isinstance(node, (dict, list)):
        return
    members = list(node) if isinstance(node, dict) else list(range(len(node)))
    for member in members:
        yield (*path, member)
    for member in members:
        yield from paths(node[member], (*path, member))


def at(node, path):
    for member in path:
        node = node[member]
    return node
