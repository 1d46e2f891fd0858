"""Random requests of every operation on items, mostly right ones.

`spoil` makes one of them wrong in a way that has nothing to do with its operation.
"""

import copy

import partiql
from expressions import BROKEN, BROKEN_UPDATES, Expressions
from tables import random_item, random_key, random_table
from values import NAMES, Values

# Members that each operation takes beside its own, with what may stand there.
CAPACITY = ["NONE", "TOTAL", "INDEXES"]
TOKENS = ["one", "two", "three"]
# What a request may have that is spoilt: members of any operation, and something for them.
MEMBERS = ["ConsistentRead", "Limit", "Select", "ReturnValues", "IndexName", "ExclusiveStartKey",
           "ReturnConsumedCapacity", "Segment", "TotalSegments", "ClientRequestToken", "NextToken",
           "ReturnItemCollectionMetrics", "ConditionalOperator", "Unknown"]
OTHERS = ["", "x", 0, 1, -1, True, {}, "ALL_NEW", "SIZE", "NONE", "COUNT", {"p": {"S": "a"}}]


class Requests:
    """Draws requests about a table."""

    def __init__(self, dice, table):
        self.dice = dice
        self.table = table

    def random(self):
        """Returns an operation and its body."""
        weights = {
            "PutItem": 14, "UpdateItem": 18, "DeleteItem": 5, "GetItem": 6, "Query": 16, "Scan": 8,
            "BatchGetItem": 3, "BatchWriteItem": 4, "TransactGetItems": 2, "TransactWriteItems": 7,
            "ExecuteStatement": 12, "BatchExecuteStatement": 2, "ExecuteTransaction": 3,
            "UpdateTimeToLive": 0.5, "DescribeTimeToLive": 0.3, "DescribeTable": 0.4,
            "Legacy": 4, "CreateTable": 1.5,
        }
        operation = self.dice.choices(list(weights), list(weights.values()))[0]
        if operation == "Legacy":
            operation, body = self.legacy()
        else:
            body = getattr(self, operation)()
        if self.dice.random() < 0.15:
            body = self.spoil(body)
        return operation, body

    def maybe(self, chance=0.5):
        return self.dice.random() < chance

    def common(self, body):
        if self.maybe(0.1):
            body["ReturnConsumedCapacity"] = self.dice.choice(CAPACITY)
        return body

    def conditional(self, body, expressions, chance=0.4):
        """Adds a condition now and then, and the maps."""
        if self.maybe(chance):
            broken = self.maybe(0.08)
            body["ConditionExpression"] = (expressions.broken(BROKEN) if broken
                                           else expressions.condition())
            if self.maybe(0.3):
                body["ReturnValuesOnConditionCheckFailure"] = self.dice.choice(["ALL_OLD", "NONE"])
        return {**body, **expressions.members()}

    def key(self):
        return random_key(self.dice, self.table)

    # Items.

    def put(self):
        return {"TableName": self.table.name, "Item": random_item(self.dice, self.table)}

    def PutItem(self):
        body = self.put()
        if self.maybe(0.3):
            body["ReturnValues"] = self.dice.choice(["NONE", "ALL_OLD", "ALL_OLD", "ALL_NEW"])
        return self.conditional(self.common(body), Expressions(self.dice, self.table), 0.25)

    def DeleteItem(self):
        body = {"TableName": self.table.name, "Key": self.key()}
        if self.maybe(0.4):
            body["ReturnValues"] = self.dice.choice(["NONE", "ALL_OLD", "ALL_OLD", "UPDATED_NEW"])
        return self.conditional(self.common(body), Expressions(self.dice, self.table))

    def update(self, expressions):
        broken = self.maybe(0.08)
        text = expressions.broken(BROKEN_UPDATES) if broken else expressions.update()
        return {"TableName": self.table.name, "Key": self.key(), "UpdateExpression": text}

    def UpdateItem(self):
        expressions = Expressions(self.dice, self.table)
        body = self.update(expressions)
        if self.maybe(0.05):
            del body["UpdateExpression"]
            expressions = Expressions(self.dice, self.table)
        if self.maybe(0.7):
            body["ReturnValues"] = self.dice.choice(
                ["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"])
        return self.conditional(self.common(body), expressions, 0.3)

    def GetItem(self):
        body = {"TableName": self.table.name, "Key": self.key()}
        return self.projected(self.common(body), Expressions(self.dice, self.table))

    def projected(self, body, expressions, chance=0.5):
        if self.maybe(chance):
            body["ProjectionExpression"] = expressions.projection()
        return {**body, **expressions.members()}

    # Ranges.

    def range(self, body, expressions):
        dice = self.dice
        if self.maybe(0.4):
            broken = self.maybe(0.08)
            body["FilterExpression"] = (expressions.broken(BROKEN) if broken
                                        else expressions.condition())
        if self.maybe(0.3):
            body["Limit"] = dice.choice([1, 2, 3, 100])
        if self.maybe(0.1):
            body["Select"] = dice.choice(["ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "COUNT",
                                          "SPECIFIC_ATTRIBUTES"])
        if self.maybe(0.2):
            body["ConsistentRead"] = self.maybe()
        return self.projected(self.common(body), expressions, 0.2)

    def Query(self):
        dice, table = self.dice, self.table
        expressions = Expressions(dice, table)
        body = {"TableName": table.name}
        target = table
        if table.indexes and self.maybe():
            target = dice.choice(table.indexes)
            body["IndexName"] = target.name
        if self.maybe(0.05):
            body["KeyConditionExpression"] = expressions.broken(BROKEN)
        else:
            body["KeyConditionExpression"] = expressions.key_condition(target.hashes, target.ranges)
        if self.maybe(0.3):
            body["ScanIndexForward"] = self.maybe()
        if self.maybe(0.08):
            names = dict.fromkeys(table.key_names() + target.hashes + target.ranges)
            body["ExclusiveStartKey"] = {
                name: Values(dice).key(table.kinds[name]) for name in names}
            equal = body["KeyConditionExpression"].split(" ")
            if equal[0] in names and equal[2:3] and self.maybe(0.8):
                # Of the partition that is asked for.
                body["ExclusiveStartKey"][equal[0]] = expressions.values.get(equal[2])
        return self.range(body, expressions)

    def Scan(self):
        body = {"TableName": self.table.name}
        if self.table.indexes and self.maybe(0.3):
            body["IndexName"] = self.dice.choice(self.table.indexes).name
        return self.range(body, Expressions(self.dice, self.table))

    # Batches and transactions.

    def keys(self, count):
        """Returns keys, mostly different ones."""
        out = []
        for _ in range(count):
            key = self.key()
            if key not in out or self.maybe(0.05):
                out.append(key)
        return out

    def BatchGetItem(self):
        expressions = Expressions(self.dice, self.table)
        own = self.projected({"Keys": self.keys(self.dice.choice([1, 2, 5]))}, expressions)
        return self.common({"RequestItems": {self.table.name: own}})

    def BatchWriteItem(self):
        requests = []
        for key in self.keys(self.dice.choice([1, 2, 5])):
            if self.maybe(0.6):
                item = {**random_item(self.dice, self.table), **key}
                requests.append({"PutRequest": {"Item": item}})
            else:
                requests.append({"DeleteRequest": {"Key": key}})
        return self.common({"RequestItems": {self.table.name: requests}})

    def TransactGetItems(self):
        gets = []
        for key in self.keys(self.dice.choice([1, 2, 3])):
            own = {"TableName": self.table.name, "Key": key}
            gets.append({"Get": self.projected(own, Expressions(self.dice, self.table), 0.3)})
        return self.common({"TransactItems": gets})

    def TransactWriteItems(self):
        actions = []
        for key in self.keys(self.dice.choice([1, 2, 3])):
            expressions = Expressions(self.dice, self.table)
            kind = self.dice.choice(["Put", "Update", "Delete", "ConditionCheck"])
            own = {"TableName": self.table.name, "Key": key}
            if kind == "Put":
                own = self.put()
                own["Item"].update(key)
            elif kind == "Update":
                own = {**self.update(expressions), "Key": key}
            chance = 0.97 if kind == "ConditionCheck" else 0.25
            actions.append({kind: self.conditional(own, expressions, chance)})
        body = {"TransactItems": actions}
        if self.maybe(0.1):
            body["ClientRequestToken"] = self.dice.choice(TOKENS)
        return self.common(body)

    # PartiQL.

    def statement(self, kind="any"):
        text, parameters = partiql.statement(self.dice, self.table, kind)
        return {"Statement": text, **({"Parameters": parameters} if parameters else {})}

    def ExecuteStatement(self):
        body = self.statement()
        if self.maybe(0.1):
            body["Limit"] = self.dice.choice([1, 2, 100])
        if self.maybe(0.1):
            body["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        return self.common(body)

    def statements(self, kinds):
        """Returns statements, mostly of one kind: reads and writes do not go together."""
        kind = self.dice.choice(kinds)
        return [self.statement("any" if self.maybe(0.05) else kind)
                for _ in range(self.dice.choice([1, 2, 3]))]

    def BatchExecuteStatement(self):
        return self.common({"Statements": self.statements(["read", "write", "write"])})

    def ExecuteTransaction(self):
        body = {"TransactStatements": self.statements(["read", "check", "check", "check"])}
        return self.common(body)

    # Tables.

    def CreateTable(self):
        """Returns a definition of another table, which is dropped behind it."""
        body = random_table(self.dice, "other").create()
        if self.maybe(0.3):
            del body["BillingMode"]
            throughput = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
            for own in [body, *body.get("GlobalSecondaryIndexes", [])]:
                own["ProvisionedThroughput"] = throughput
        return self.spoil(body) if self.maybe() else body

    def UpdateTimeToLive(self):
        specification = {"Enabled": self.maybe(0.7), "AttributeName": self.dice.choice(["a", "d"])}
        return {"TableName": self.table.name, "TimeToLiveSpecification": specification}

    def DescribeTimeToLive(self):
        return {"TableName": self.table.name}

    def DescribeTable(self):
        return {"TableName": self.table.name}

    # The members that were before expressions.

    def legacy_condition(self, top):
        dice = self.dice
        values = Expressions(dice, self.table)
        operator = dice.choice(["EQ", "NE", "IN", "LE", "LT", "GE", "GT", "BETWEEN", "NOT_NULL",
                                "NULL", "CONTAINS", "NOT_CONTAINS", "BEGINS_WITH"])
        count = {"BETWEEN": 2, "NOT_NULL": 0, "NULL": 0, "IN": dice.choice([1, 2])}.get(operator, 1)
        if self.maybe(0.05):
            count = dice.choice([0, 1, 2])
        out = {"ComparisonOperator": operator}
        if count:
            out["AttributeValueList"] = [values.likely(top) for _ in range(count)]
        return out

    def conditions(self):
        tops = self.dice.sample(NAMES, self.dice.choice([1, 2]))
        return {top: self.legacy_condition(top) for top in tops}

    def expected(self):
        out = {}
        for top in self.dice.sample(NAMES, self.dice.choice([1, 2])):
            match self.dice.randrange(3):
                case 0:
                    out[top] = {"Exists": self.maybe(0.2)}
                case 1:
                    out[top] = {"Value": Values(self.dice).named(top)}
                case _:
                    out[top] = self.legacy_condition(top)
        return out

    def updates(self):
        out = {}
        for top in self.dice.sample(NAMES, self.dice.choice([1, 2])):
            action = self.dice.choice(["PUT", "ADD", "DELETE"])
            out[top] = {"Action": action}
            if action != "DELETE" or self.maybe(0.3):
                out[top]["Value"] = Values(self.dice).named(top)
        return out

    def legacy(self):
        body = {"TableName": self.table.name}
        operation = self.dice.choice(
            ["PutItem", "UpdateItem", "DeleteItem", "GetItem", "Query", "Scan"])
        match operation:
            case "PutItem":
                body.update(self.put(), Expected=self.expected())
            case "DeleteItem":
                body.update(Key=self.key(), Expected=self.expected())
            case "UpdateItem":
                body.update(Key=self.key(), AttributeUpdates=self.updates(), ReturnValues="ALL_NEW")
            case "GetItem":
                body.update(Key=self.key(), AttributesToGet=self.dice.sample(NAMES, 2))
            case "Query":
                equal = {"ComparisonOperator": "EQ", "AttributeValueList": [self.key()["p"]]}
                body.update(KeyConditions={"p": equal}, QueryFilter=self.conditions())
                if self.table.ranges and self.maybe():
                    body["KeyConditions"]["s"] = self.legacy_condition("s")
            case _:
                body.update(ScanFilter=self.conditions())
        if self.maybe(0.2):
            body["ConditionalOperator"] = self.dice.choice(["AND", "OR"])
        return operation, body

    # Wrong ones.

    def spoil(self, body):
        """Returns the request with one thing wrong, somewhere in it."""
        dice = self.dice
        body = copy.deepcopy(body)
        places = list(walk(body))
        holder, member = dice.choice(places)
        match dice.randrange(8):
            case 0:
                del holder[member]
            case 1:
                holder[member] = dice.choice(["", "x", 0, -1, None, [], {}, True, "a" * 300])
            case 2:
                body[dice.choice(MEMBERS)] = copy.deepcopy(dice.choice(OTHERS))
            case 3:
                body.setdefault("ExpressionAttributeValues", {})[
                    dice.choice([":unused", "bad", ":", ""])] = {"S": "x"}
            case 4:
                body.setdefault("ExpressionAttributeNames", {})[
                    dice.choice(["#unused", "bad", "#", ""])] = dice.choice(["x", "", "a.b"])
            case _:
                values = [place for place in places if is_value(place[0][place[1]])]
                holder, member = dice.choice(values or places)
                holder[member] = Values(dice).wrong()
        return body


def walk(node):
    """Yields each place in a request: what holds it, and its member or number."""
    members = list(node) if isinstance(node, dict) else range(len(node))
    for member in members:
        yield node, member
        if isinstance(node[member], (dict, list)):
            yield from walk(node[member])


def is_value(node):
    return isinstance(node, dict) and len(node) == 1 and next(iter(node)) in (
        "S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS")
