"""Keys that may not do everything: what is refused, in which words, and what is not."""

import unittest

import boto3
from botocore.exceptions import ClientError

ORDERS, LOGS, OTHER = "policies-orders", "policies-logs-1", "policies-other"
NAMES = (LOGS, ORDERS, OTHER)


def client(*keys):
    keys = dict(zip(("aws_access_key_id", "aws_secret_access_key"), keys))
    return boto3.session.Session().client("dynamodb", **keys)


class Policies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all, cls.reader, cls.writer = client(), client("reader", "reads"), client("writer", "writes")
        for name in NAMES:
            cls.all.create_table(
                TableName=name, BillingMode="PAY_PER_REQUEST",
                AttributeDefinitions=[{"AttributeName": "h", "AttributeType": "S"}],
                KeySchema=[{"AttributeName": "h", "KeyType": "HASH"}])
            cls.addClassCleanup(cls.all.delete_table, TableName=name)
            cls.all.put_item(TableName=name, Item=cls.item("first"))

    @staticmethod
    def item(text):
        return {"h": {"S": text}}

    def refused(self, user, action, resource, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], "AccessDeniedException")
        self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 400)
        self.assertRegex(
            error["Message"],
            rf"^User: arn:aws:iam::\d{{12}}:user/{user} is not authorized to perform: dynamodb:{action} "
            rf"on resource: arn:aws:dynamodb:[a-z0-9-]+:\d{{12}}:table/{resource} because no "
            rf"identity-based policy allows the dynamodb:{action} action$")

    def test_who_reads_does_not_write(self):
        for name in (ORDERS, LOGS):
            got = self.reader.get_item(TableName=name, Key=self.item("first"))
            self.assertEqual(got["Item"], self.item("first"))
            self.assertEqual(self.reader.scan(TableName=name)["Count"], 1)
            self.refused("reader", "PutItem", name, self.reader.put_item,
                         TableName=name, Item=self.item("no"))
            self.refused("reader", "DeleteTable", name, self.reader.delete_table, TableName=name)
        self.assertEqual(self.all.scan(TableName=ORDERS)["Count"], 1)

    def test_who_writes_does_so_on_its_tables(self):
        self.writer.put_item(TableName=ORDERS, Item=self.item("mine"))
        self.writer.delete_item(TableName=ORDERS, Key=self.item("mine"))
        self.refused("writer", "PutItem", OTHER, self.writer.put_item,
                     TableName=OTHER, Item=self.item("no"))
        self.refused("writer", "UpdateTable", ORDERS, self.writer.update_table,
                     TableName=ORDERS, DeletionProtectionEnabled=False)

    def test_other_tables_are_not_told_of(self):
        for name in (OTHER, "policies-not-there"):
            self.refused("reader", "DescribeTable", name, self.reader.describe_table, TableName=name)
            self.refused("reader", "Query", name, self.reader.query, TableName=name,
                         KeyConditionExpression="h = :h",
                         ExpressionAttributeValues={":h": {"S": "first"}})
        listed = self.reader.list_tables()["TableNames"]
        self.assertEqual(listed, [LOGS, ORDERS])
        self.assertLessEqual(set(NAMES), set(self.all.list_tables()["TableNames"]))

    def test_batches_and_transactions_name_each_table(self):
        put = {"PutRequest": {"Item": self.item("batch")}}
        self.refused("writer", "BatchWriteItem", OTHER, self.writer.batch_write_item,
                     RequestItems={ORDERS: [put], OTHER: [put]})
        keys = {"Keys": [self.item("first")]}
        self.refused("reader", "BatchGetItem", OTHER, self.reader.batch_get_item,
                     RequestItems={ORDERS: keys, OTHER: keys})
        own = {"Put": {"TableName": ORDERS, "Item": self.item("transaction")}}
        check = {"ConditionCheck": {"TableName": OTHER, "Key": self.item("first"),
                                    "ConditionExpression": "attribute_exists(h)"}}
        self.refused("writer", "ConditionCheckItem", OTHER, self.writer.transact_write_items,
                     TransactItems=[own, check])
        self.refused("reader", "PutItem", ORDERS, self.reader.transact_write_items,
                     TransactItems=[own])
        gets = [{"Get": {"TableName": name, "Key": self.item("first")}} for name in (LOGS, OTHER)]
        self.refused("reader", "GetItem", OTHER, self.reader.transact_get_items, TransactItems=gets)
        self.assertEqual(self.all.scan(TableName=ORDERS)["Count"], 1)
        self.writer.transact_write_items(TransactItems=[own])
        self.writer.delete_item(TableName=ORDERS, Key=self.item("transaction"))


if __name__ == "__main__":
    unittest.main()
