"""boto3 against a running server: items, conditions, queries, batches, transactions, errors."""

import decimal
import unittest
import uuid

import boto3
from boto3.dynamodb.conditions import Attr, Key
from botocore.exceptions import ClientError

dynamodb = boto3.resource("dynamodb")
client = boto3.client("dynamodb")


def new_table(**more):
    """Creates a table of its own for a test, with a text partition key and a number sort key."""
    name = f"test-{uuid.uuid4()}"
    definition = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    }
    definition.update(more)
    table = dynamodb.create_table(**definition)
    table.wait_until_exists()
    return table


class Items(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = new_table()

    @classmethod
    def tearDownClass(cls):
        cls.table.delete()

    def refused(self, code, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception.response

    def test_every_type_comes_back(self):
        item = {
            "pk": "types",
            "sk": decimal.Decimal("-1.5"),
            "text": "é",
            "bytes": b"\x00\xff",
            "true": True,
            "null": None,
            "list": [decimal.Decimal(1), "x", []],
            "map": {"a": {"b": [False]}},
            "texts": {"a", "b"},
            "numbers": {decimal.Decimal(1), decimal.Decimal("2.5")},
            "blobs": {b"a", b"b"},
        }
        self.table.put_item(Item=item)
        found = self.table.get_item(Key={"pk": "types", "sk": decimal.Decimal("-1.50")})["Item"]
        found["bytes"] = found["bytes"].value
        found["blobs"] = {blob.value for blob in found["blobs"]}
        self.assertEqual(found, item)

    def test_numbers_are_ordered_as_numbers(self):
        for n in (5, 20, 307, -3, decimal.Decimal("0.5")):
            self.table.put_item(Item={"pk": "order", "sk": n})
        answer = self.table.query(KeyConditionExpression=Key("pk").eq("order"))
        self.assertEqual(
            [item["sk"] for item in answer["Items"]], [-3, decimal.Decimal("0.5"), 5, 20, 307]
        )
        answer = self.table.query(
            KeyConditionExpression=Key("pk").eq("order") & Key("sk").between(5, 100),
            ScanIndexForward=False,
        )
        self.assertEqual([item["sk"] for item in answer["Items"]], [20, 5])

    def test_conditions_hold_or_refuse(self):
        key = {"pk": "condition", "sk": 1}
        self.table.put_item(Item=key, ConditionExpression=Attr("pk").not_exists())
        self.refused(
            "ConditionalCheckFailedException",
            self.table.put_item,
            Item=key,
            ConditionExpression=Attr("pk").not_exists(),
        )
        refused = self.refused(
            "ConditionalCheckFailedException",
            self.table.delete_item,
            Key=key,
            ConditionExpression=Attr("n").gt(3),
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
        self.assertEqual(refused["Item"], {"pk": {"S": "condition"}, "sk": {"N": "1"}})

    def test_updates_compute_on_the_item_as_it_was(self):
        key = {"pk": "update", "sk": 1}
        answer = self.table.update_item(
            Key=key,
            UpdateExpression="SET #c = if_not_exists(#c, :zero) + :one, l = list_append(:empty, :more) ADD t :tags",
            ExpressionAttributeNames={"#c": "count"},
            ExpressionAttributeValues={
                ":zero": 0,
                ":one": 1,
                ":empty": [],
                ":more": ["x"],
                ":tags": {"a"},
            },
            ReturnValues="ALL_NEW",
        )
        self.assertEqual(answer["Attributes"], {**key, "count": 1, "l": ["x"], "t": {"a"}})
        answer = self.table.update_item(
            Key=key,
            UpdateExpression="SET l[5] = :y REMOVE #c DELETE t :tags",
            ExpressionAttributeNames={"#c": "count"},
            ExpressionAttributeValues={":y": "y", ":tags": {"a"}},
            ReturnValues="ALL_NEW",
        )
        self.assertEqual(answer["Attributes"], {**key, "l": ["x", "y"]})

    def test_pages_join_without_loss(self):
        with self.table.batch_writer() as batch:
            for n in range(57):
                batch.put_item(Item={"pk": "pages", "sk": n})
        seen, arguments = [], {"KeyConditionExpression": Key("pk").eq("pages"), "Limit": 10}
        while True:
            answer = self.table.query(**arguments)
            seen += [int(item["sk"]) for item in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            arguments["ExclusiveStartKey"] = answer["LastEvaluatedKey"]
        self.assertEqual(seen, list(range(57)))

    def test_segments_share_a_scan_out(self):
        table = new_table()
        with table.batch_writer() as batch:
            for n in range(100):
                batch.put_item(Item={"pk": f"p{n}", "sk": n})
        seen = []
        for segment in range(3):
            answer = table.scan(Segment=segment, TotalSegments=3)
            seen += [int(item["sk"]) for item in answer["Items"]]
        self.assertEqual(sorted(seen), list(range(100)))
        table.delete()

    def test_batches_read_what_they_wrote(self):
        name = self.table.name
        keys = [{"pk": {"S": "batch"}, "sk": {"N": str(n)}} for n in range(5)]
        client.batch_write_item(RequestItems={name: [{"PutRequest": {"Item": key}} for key in keys]})
        answer = client.batch_get_item(RequestItems={name: {"Keys": keys}})
        found = sorted(answer["Responses"][name], key=lambda item: int(item["sk"]["N"]))
        self.assertEqual(found, keys)
        self.refused(
            "ValidationException",
            client.batch_get_item,
            RequestItems={name: {"Keys": [keys[0], keys[0]]}},
        )

    def test_transactions_are_all_or_nothing(self):
        name = self.table.name
        put = lambda n, **more: {
            "Put": {"TableName": name, "Item": {"pk": {"S": "tx"}, "sk": {"N": str(n)}}, **more}
        }
        client.transact_write_items(TransactItems=[put(1), put(2)], ClientRequestToken="one")
        client.transact_write_items(TransactItems=[put(1), put(2)], ClientRequestToken="one")
        self.refused(
            "IdempotentParameterMismatchException",
            client.transact_write_items,
            TransactItems=[put(3)],
            ClientRequestToken="one",
        )
        refused = self.refused(
            "TransactionCanceledException",
            client.transact_write_items,
            TransactItems=[put(3), put(1, ConditionExpression="attribute_not_exists(pk)")],
        )
        codes = [reason["Code"] for reason in refused["CancellationReasons"]]
        self.assertEqual(codes, ["None", "ConditionalCheckFailed"])
        get = lambda n: {"Get": {"TableName": name, "Key": {"pk": {"S": "tx"}, "sk": {"N": str(n)}}}}
        answer = client.transact_get_items(TransactItems=[get(1), get(3)])
        self.assertEqual(answer["Responses"], [{"Item": get(1)["Get"]["Key"]}, {}])

    def test_errors_have_their_names(self):
        self.refused("ResourceNotFoundException", client.describe_table, TableName="no-such-table")
        self.refused(
            "ValidationException", self.table.get_item, Key={"pk": "only the partition key"}
        )
        self.refused(
            "ValidationException",
            self.table.query,
            KeyConditionExpression=Key("sk").eq(1),
        )
        deep = "(" * 2000 + "a = :a" + ")" * 2000
        self.refused(
            "ValidationException",
            self.table.scan,
            FilterExpression=deep,
            ExpressionAttributeValues={":a": 1},
        )
        self.assertIn(self.table.name, client.list_tables()["TableNames"])

    def test_an_operation_that_is_not_there_says_so(self):
        self.refused(
            "UnknownOperationException",
            client.update_table_replica_auto_scaling,
            TableName=self.table.name,
        )


if __name__ == "__main__":
    unittest.main()
