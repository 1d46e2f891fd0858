"""What boto3 builds on the operations: paginators, waiters, batches of any size, conditions, types."""

import decimal
import unittest
import uuid

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary, TypeDeserializer, TypeSerializer
from botocore.exceptions import ClientError, WaiterError

dynamodb = boto3.resource("dynamodb")
client = boto3.client("dynamodb")
# Waiters ask every twenty seconds otherwise.
QUICK = {"Delay": 1, "MaxAttempts": 30}


def new_table(**more):
    """Creates a table with a sort key and an index, as most tutorials do."""
    name = f"layers-{uuid.uuid4()}"
    text = lambda name: {"AttributeName": name, "AttributeType": "S"}
    key = lambda name, kind: {"AttributeName": name, "KeyType": kind}
    table = dynamodb.create_table(**{
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [text("pk"), text("sk"), text("town")],
        "KeySchema": [key("pk", "HASH"), key("sk", "RANGE")],
        "GlobalSecondaryIndexes": [{
            "IndexName": "by_town",
            "KeySchema": [key("town", "HASH"), key("sk", "RANGE")],
            "Projection": {"ProjectionType": "ALL"},
        }],
        **more,
    })
    client.get_waiter("table_exists").wait(TableName=name, WaiterConfig=QUICK)
    table.reload()
    return table


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table, cls.other = new_table(), new_table()
        with cls.table.batch_writer() as batch:
            for n in range(120):
                batch.put_item(Item={"pk": f"p{n % 4}", "sk": f"s{n:03}", "n": n,
                                     "town": "Ulm" if n % 2 else "Bonn", "pad": "x" * 100})

    @classmethod
    def tearDownClass(cls):
        cls.other.delete()
        cls.table.delete()
        client.get_waiter("table_not_exists").wait(TableName=cls.table.name, WaiterConfig=QUICK)

    def refused(self, code, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception.response

    def test_paginators(self):
        pages = client.get_paginator("scan").paginate(
            TableName=self.table.name, PaginationConfig={"PageSize": 7})
        items = [item for page in pages for item in page["Items"]]
        self.assertEqual(sorted(int(item["n"]["N"]) for item in items), list(range(120)))
        pages = list(client.get_paginator("query").paginate(
            TableName=self.table.name, IndexName="by_town",
            KeyConditionExpression="town = :t AND begins_with(sk, :s)",
            ExpressionAttributeValues={":t": {"S": "Ulm"}, ":s": {"S": "s0"}},
            PaginationConfig={"PageSize": 20, "MaxItems": 45}))
        found = [item["sk"]["S"] for page in pages for item in page["Items"]]
        self.assertEqual(found, [f"s{n:03}" for n in range(1, 91, 2)])
        filtered = client.get_paginator("scan").paginate(
            TableName=self.table.name, FilterExpression="n < :n",
            ExpressionAttributeValues={":n": {"N": "10"}}, PaginationConfig={"PageSize": 50})
        self.assertEqual(filtered.build_full_result()["Count"], 10)
        # A token of the paginator's own, to go on from in another process.
        part = client.get_paginator("scan").paginate(
            TableName=self.table.name, PaginationConfig={"PageSize": 10, "MaxItems": 30}
        ).build_full_result()
        rest = client.get_paginator("scan").paginate(
            TableName=self.table.name,
            PaginationConfig={"PageSize": 50, "StartingToken": part["NextToken"]}
        ).build_full_result()
        self.assertEqual(len(part["Items"]) + len(rest["Items"]), 120)
        names = [name for page in client.get_paginator("list_tables").paginate(
            PaginationConfig={"PageSize": 1}) for name in page["TableNames"]]
        self.assertIn(self.table.name, names)
        self.assertEqual(len(names), len(set(names)))

    def test_waiters(self):
        with self.assertRaises(WaiterError):
            client.get_waiter("table_exists").wait(
                TableName="never-there", WaiterConfig={"Delay": 1, "MaxAttempts": 2})
        table = new_table()
        self.assertEqual(table.table_status, "ACTIVE")
        self.assertEqual(table.global_secondary_indexes[0]["IndexStatus"], "ACTIVE")
        table.delete()
        table.wait_until_not_exists()
        self.refused("ResourceNotFoundException", client.describe_table, TableName=table.name)

    def test_batches_of_any_size(self):
        with self.other.batch_writer(overwrite_by_pkeys=["pk", "sk"]) as batch:
            for n in range(60):
                batch.put_item(Item={"pk": "batch", "sk": f"{n % 30:02}", "n": n})
            batch.delete_item(Key={"pk": "batch", "sk": "00"})
        answer = self.other.query(KeyConditionExpression=Key("pk").eq("batch"))
        self.assertEqual([int(item["n"]) for item in answer["Items"]], list(range(31, 60)))
        keys = [{"pk": "batch", "sk": f"{n:02}"} for n in range(30)]
        got = dynamodb.batch_get_item(RequestItems={
            self.other.name: {"Keys": keys, "ProjectionExpression": "sk, #n",
                              "ExpressionAttributeNames": {"#n": "n"}}})
        self.assertEqual(len(got["Responses"][self.other.name]), 29)
        self.assertEqual(got["UnprocessedKeys"], {})
        with self.other.batch_writer() as batch:
            for key in keys:
                batch.delete_item(Key=key)
        self.assertEqual(self.other.query(
            KeyConditionExpression=Key("pk").eq("batch"), Select="COUNT")["Count"], 0)

    def test_conditions_of_every_kind(self):
        self.other.put_item(Item={
            "pk": "cond", "sk": "1", "n": 5, "name": "Ann", "tags": {"a", "b"},
            "list": ["x", {"deep": 1}], "map": {"in": {"most": "y"}}, "nothing": None,
            "bin": Binary(b"\x00\xff")})
        here = Key("pk").eq("cond")
        for condition, holds in (
            (Attr("n").eq(5), True), (Attr("n").ne(5), False), (Attr("n").lt(5), False),
            (Attr("n").lte(5), True), (Attr("n").between(1, 5), True), (Attr("n").gt(4), True),
            (Attr("n").is_in([1, 5]), True), (Attr("name").begins_with("A"), True),
            (Attr("name").contains("nn"), True), (Attr("tags").contains("b"), True),
            (Attr("list").contains("x"), True), (Attr("list[1].deep").eq(1), True),
            (Attr("map.in.most").eq("y"), True), (Attr("map.in.none").exists(), False),
            (Attr("nothing").exists(), True), (Attr("nothing").attribute_type("NULL"), True),
            (Attr("none").not_exists(), True), (Attr("name").size().gt(2), True),
            (Attr("tags").size().eq(2), True), (Attr("bin").eq(Binary(b"\x00\xff")), True),
            (Attr("n").eq(5) & ~Attr("name").eq("Bob"), True),
            (Attr("n").eq(6) | Attr("name").eq("Ann") & Attr("n").gte(5), True),
            (Attr("n").eq("5"), False),
        ):
            with self.subTest(condition=condition.get_expression()):
                found = self.other.query(KeyConditionExpression=here, FilterExpression=condition)
                self.assertEqual(found["Count"], 1 if holds else 0)
                self.assertEqual(found["ScannedCount"], 1)
        for condition, rows in (
            (Key("sk").eq("s000"), 1), (Key("sk").lt("s008"), 2), (Key("sk").lte("s008"), 3),
            (Key("sk").gt("s100"), 4), (Key("sk").gte("s100"), 5),
            (Key("sk").between("s000", "s011"), 3), (Key("sk").begins_with("s00"), 3),
        ):
            with self.subTest(condition=condition.get_expression()):
                found = self.table.query(KeyConditionExpression=Key("pk").eq("p0") & condition)
                self.assertEqual(found["Count"], rows)

    def test_types_of_the_serializer(self):
        item = {
            "pk": "types", "sk": "1", "big": decimal.Decimal("9.9999999999999999999999999999999999999E+37"),
            "small": decimal.Decimal("-1E-130"), "exact": decimal.Decimal("0.1"),
            "zero": decimal.Decimal(0), "empty": "", "no_list": [], "no_map": {},
            "nested": [{"a": [None, True, {"b": Binary(b"")}]}], "numbers": {1, 2, 3},
            "blobs": {Binary(b"x"), Binary(b"y")}, "name with.dots and #": "ok",
        }
        serialize, deserialize = TypeSerializer().serialize, TypeDeserializer().deserialize
        wire = {name: serialize(value) for name, value in item.items()}
        client.put_item(TableName=self.other.name, Item=wire)
        key = {"pk": wire["pk"], "sk": wire["sk"]}
        back = client.get_item(TableName=self.other.name, Key=key, ConsistentRead=True)["Item"]
        self.assertEqual({name: deserialize(value) for name, value in back.items()}, item)
        self.refused("ValidationException", client.put_item, TableName=self.other.name,
                     Item={**key, "n": {"N": "1e126"}})

    def test_updates_and_what_they_return(self):
        key = {"pk": "update", "sk": "1"}
        made = self.other.update_item(
            Key=key, UpdateExpression="SET visits = if_not_exists(visits, :z) + :o, #l = :l",
            ExpressionAttributeNames={"#l": "list"},
            ExpressionAttributeValues={":z": 0, ":o": 1, ":l": ["a"]}, ReturnValues="UPDATED_NEW")
        self.assertEqual(made["Attributes"], {"visits": 1, "list": ["a"]})
        changed = self.other.update_item(
            Key=key, UpdateExpression="SET #l = list_append(#l, :l) ADD tags :t, visits :o",
            ConditionExpression=Attr("visits").eq(1), ExpressionAttributeNames={"#l": "list"},
            ExpressionAttributeValues={":l": ["b"], ":t": {"x"}, ":o": 10}, ReturnValues="ALL_OLD",
            ReturnConsumedCapacity="TOTAL")
        self.assertEqual(changed["Attributes"], {**key, "visits": 1, "list": ["a"]})
        self.assertEqual(changed["ConsumedCapacity"]["TableName"], self.other.name)
        try:
            self.other.update_item(
                Key=key, UpdateExpression="SET visits = :o", ConditionExpression="visits = :o",
                ExpressionAttributeValues={":o": 1}, ReturnValuesOnConditionCheckFailure="ALL_OLD")
            self.fail("the condition held")
        except client.exceptions.ConditionalCheckFailedException as refused:
            self.assertEqual(refused.response["Item"]["visits"], {"N": "11"})
        deleted = self.other.delete_item(Key=key, ReturnValues="ALL_OLD")
        self.assertEqual(deleted["Attributes"]["tags"], {"x"})

    def test_transactions(self):
        name = self.other.name
        key = lambda sk: {"pk": {"S": "tx"}, "sk": {"S": sk}}
        client.put_item(TableName=name, Item={**key("a"), "n": {"N": "5"}})
        move = [
            {"Update": {"TableName": name, "Key": key("a"), "UpdateExpression": "SET n = n - :m",
                        "ConditionExpression": "n >= :m",
                        "ExpressionAttributeValues": {":m": {"N": "3"}}}},
            {"Update": {"TableName": name, "Key": key("b"), "UpdateExpression": "ADD n :m",
                        "ExpressionAttributeValues": {":m": {"N": "3"}}}},
            {"ConditionCheck": {"TableName": name, "Key": key("closed"),
                                "ConditionExpression": "attribute_not_exists(pk)"}},
        ]
        client.transact_write_items(TransactItems=move)
        try:
            client.transact_write_items(TransactItems=move)
            self.fail("there is not enough left")
        except client.exceptions.TransactionCanceledException as refused:
            codes = [reason["Code"] for reason in refused.response["CancellationReasons"]]
            self.assertEqual(codes, ["ConditionalCheckFailed", "None", "None"])
        got = client.transact_get_items(TransactItems=[
            {"Get": {"TableName": name, "Key": key(sk), "ProjectionExpression": "n"}}
            for sk in ("a", "b")])
        self.assertEqual([answer["Item"]["n"]["N"] for answer in got["Responses"]], ["2", "3"])


class Tables(unittest.TestCase):
    def test_an_index_added_and_removed(self):
        table = new_table()
        self.addCleanup(table.delete)
        table.put_item(Item={"pk": "a", "sk": "b", "kind": "c"})
        table.update(
            AttributeDefinitions=[{"AttributeName": "kind", "AttributeType": "S"}],
            GlobalSecondaryIndexUpdates=[{"Create": {
                "IndexName": "by_kind",
                "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"}}}])
        client.get_waiter("table_exists").wait(TableName=table.name, WaiterConfig=QUICK)
        deadline = 100
        status = None
        while status != "ACTIVE" and deadline:
            deadline -= 1
            table.reload()
            status = {index["IndexName"]: index["IndexStatus"]
                      for index in table.global_secondary_indexes}["by_kind"]
        found = table.query(IndexName="by_kind", KeyConditionExpression=Key("kind").eq("c"))
        self.assertEqual(found["Items"], [{"pk": "a", "sk": "b", "kind": "c"}])
        table.update(GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "by_kind"}}])
        table.reload()
        with self.assertRaises(ClientError):
            table.query(IndexName="by_kind", KeyConditionExpression=Key("kind").eq("c"))

    def test_lifetimes(self):
        table = new_table()
        self.addCleanup(table.delete)
        client.update_time_to_live(TableName=table.name, TimeToLiveSpecification={
            "Enabled": True, "AttributeName": "until"})
        told = client.describe_time_to_live(TableName=table.name)["TimeToLiveDescription"]
        self.assertEqual(told["AttributeName"], "until")
        self.assertIn(told["TimeToLiveStatus"], ("ENABLED", "ENABLING"))


if __name__ == "__main__":
    unittest.main()
