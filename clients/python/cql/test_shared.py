"""One table, two faces: what a driver of Cassandra and boto3 see of each other's writes."""

import decimal
import json
import unittest
import uuid

import boto3
from boto3.dynamodb.conditions import Attr, Key
from botocore.config import Config
from botocore.exceptions import ClientError
from cassandra import InvalidRequest
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.policies import WhiteListRoundRobinPolicy
from cassandra.query import BatchStatement, SimpleStatement

from bed import new_keyspace
from served import Served


class Shared(unittest.TestCase):
    def serve(self, *flags):
        self.served = Served(*flags)
        self.addCleanup(self.served.close)
        self.connect()
        self.keyspace = new_keyspace(self.session)
        self.session.execute(
            f"CREATE TABLE {self.keyspace}.orders (customer text, number int, amount decimal,"
            " tags set<text>, lines list<frozen<map<text, int>>>, at timestamp, id uuid,"
            " PRIMARY KEY (customer, number)) WITH CLUSTERING ORDER BY (number DESC)")

    def connect(self):
        profile = ExecutionProfile(
            load_balancing_policy=WhiteListRoundRobinPolicy([self.served.host]), request_timeout=60)
        self.cluster = Cluster([self.served.host], port=self.served.port, connect_timeout=30,
                               execution_profiles={EXEC_PROFILE_DEFAULT: profile})
        self.addCleanup(self.cluster.shutdown)
        self.session = self.cluster.connect()
        self.dynamodb = boto3.resource(
            "dynamodb", endpoint_url=f"http://{self.served.addresses['dynamodb']}",
            region_name="local", aws_access_key_id="a", aws_secret_access_key="b",
            config=Config(retries={"max_attempts": 1}))

    @property
    def table(self):
        return self.dynamodb.Table(f"{self.keyspace}.orders")

    def refused(self, code, text, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], code, error)
        self.assertIn(text, error["Message"])

    def rows(self):
        query = f"SELECT number, amount, tags FROM {self.keyspace}.orders WHERE customer = 'ada'"
        return [(row.number, row.amount, set(row.tags or ())) for row in self.session.execute(query)]

    def test_each_face_sees_what_the_other_wrote(self):
        self.serve("--share", "all")
        own = uuid.uuid4()
        self.session.execute(
            f"INSERT INTO {self.keyspace}.orders (customer, number, amount, tags, lines, at, id)"
            " VALUES ('ada', 1, 12.50, {'a', 'b'}, [{'x': 1}, {'y': 2}], 1700000000000, %s)", [own])
        item = self.table.get_item(Key={"customer": "ada", "number": 1})["Item"]
        self.assertEqual(item, {
            "customer": "ada", "number": 1, "amount": decimal.Decimal("12.5"), "tags": {"a", "b"},
            "lines": [{"x": 1}, {"y": 2}], "at": 1700000000000, "id": str(own)})
        absent = Attr("customer").not_exists()
        self.table.put_item(Item={"customer": "ada", "number": 2, "amount": 3}, ConditionExpression=absent)
        self.refused("ConditionalCheckFailedException", "", self.table.put_item,
                     Item={"customer": "ada", "number": 2}, ConditionExpression=absent)
        changed = self.table.update_item(
            Key={"customer": "ada", "number": 2}, ReturnValues="ALL_NEW",
            UpdateExpression="SET amount = amount + :one ADD tags :tags",
            ExpressionAttributeValues={":one": 1, ":tags": {"q"}})["Attributes"]
        self.assertEqual(changed, {"customer": "ada", "number": 2, "amount": 4, "tags": {"q"}})
        self.assertEqual(self.rows(), [(2, 4, {"q"}), (1, decimal.Decimal("12.50"), {"a", "b"})])
        # In the table's own order, page by page.
        pages = list(self.dynamodb.meta.client.get_paginator("query").paginate(
            TableName=self.table.name, Limit=1, KeyConditionExpression="customer = :c",
            ExpressionAttributeValues={":c": "ada"}))
        self.assertEqual([item["number"] for page in pages for item in page["Items"]], [2, 1])
        between = Key("customer").eq("ada") & Key("number").between(0, 1)
        self.assertEqual(self.table.query(KeyConditionExpression=between)["Count"], 1)
        self.assertEqual(self.table.scan(FilterExpression=Attr("amount").gt(10))["Count"], 1)
        # After a restart, too.
        self.served.stop()
        self.served.start()
        self.connect()
        self.assertEqual(len(self.rows()), 2)
        self.assertEqual(self.table.scan()["Count"], 2)

    def test_batches_and_transactions_hold_both_kinds(self):
        self.serve("--share", "all")
        client = self.dynamodb.meta.client
        own = self.dynamodb.create_table(
            TableName="ledger", BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}])
        order = {"TableName": self.table.name,
                 "Item": {"customer": "ada", "number": 1, "amount": 5},
                 "ConditionExpression": "attribute_not_exists(customer)"}
        entry = {"TableName": own.name, "Item": {"pk": "ada-1"}}
        client.transact_write_items(TransactItems=[{"Put": order}, {"Put": entry}])
        entry["Item"]["pk"] = "ada-2"
        with self.assertRaises(client.exceptions.TransactionCanceledException) as caught:
            client.transact_write_items(TransactItems=[{"Put": entry}, {"Put": order}])
        reasons = [reason["Code"] for reason in caught.exception.response["CancellationReasons"]]
        self.assertEqual(reasons, ["None", "ConditionalCheckFailed"])
        self.assertEqual(own.scan()["Count"], 1)
        with self.table.batch_writer() as batch:
            for number in range(2, 60):
                batch.put_item(Item={"customer": "ada", "number": number})
            batch.delete_item(Key={"customer": "ada", "number": 1})
        self.assertEqual([row[0] for row in self.rows()], list(range(59, 1, -1)))
        keys = [{"customer": "ada", "number": number} for number in (1, 2, 3)]
        found = client.batch_get_item(RequestItems={self.table.name: {"Keys": keys}})["Responses"]
        self.assertEqual(len(found[self.table.name]), 2)
        gets = [{"Get": {"TableName": self.table.name, "Key": keys[1]}},
                {"Get": {"TableName": own.name, "Key": {"pk": "ada-1"}}}]
        self.assertEqual(len(client.transact_get_items(TransactItems=gets)["Responses"]), 2)

    def test_what_is_not_granted_or_does_not_fit_is_said(self):
        self.serve()
        self.assertEqual(self.table.scan()["Count"], 0)
        item = {"customer": "ada", "number": 1}
        self.refused("ValidationException", "--share all", self.table.put_item, Item=item)
        self.refused("ValidationException", "belongs to another face", self.table.delete)
        self.session.execute(
            f"CREATE TABLE {self.keyspace}.wide (a int, b int, c int, PRIMARY KEY (a, b, c))")
        wide = self.dynamodb.Table(f"{self.keyspace}.wide")
        self.refused("ValidationException", "2 clustering columns", wide.scan)
        for name in ("system.local", "system_auth.roles", f"{self.keyspace}.nothing"):
            self.refused("ResourceNotFoundException", "", self.dynamodb.Table(name).scan)
        self.served.stop()
        self.served.flags = ["--share", "none"]
        self.served.start()
        self.connect()
        self.refused("ResourceNotFoundException", "", self.table.scan)

    def test_who_logs_in_to_one_face_is_not_passed_by_at_the_other(self):
        served = Served(logins=True)
        self.addCleanup(served.close)
        client = boto3.client(
            "dynamodb", endpoint_url=f"http://{served.addresses['dynamodb']}", region_name="local",
            aws_access_key_id="a", aws_secret_access_key="b")
        with self.assertRaises(ClientError) as caught:
            client.scan(TableName="system_auth.roles")
        self.assertEqual(caught.exception.response["Error"]["Code"], "ResourceNotFoundException")


class SharedByDynamoDb(Shared):
    """The other direction: tables of DynamoDB in CQL's keyspace `dynamodb`."""

    # Those of the base class are its own.
    test_each_face_sees_what_the_other_wrote = None
    test_batches_and_transactions_hold_both_kinds = None
    test_what_is_not_granted_or_does_not_fit_is_said = None
    test_who_logs_in_to_one_face_is_not_passed_by_at_the_other = None

    def create_films(self):
        films = self.dynamodb.create_table(
            TableName="films", BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "studio", "AttributeType": "S"},
                                  {"AttributeName": "number", "AttributeType": "N"},
                                  {"AttributeName": "year", "AttributeType": "N"}],
            KeySchema=[{"AttributeName": "studio", "KeyType": "HASH"},
                       {"AttributeName": "number", "KeyType": "RANGE"}],
            GlobalSecondaryIndexes=[{
                "IndexName": "by_year", "Projection": {"ProjectionType": "KEYS_ONLY"},
                "KeySchema": [{"AttributeName": "year", "KeyType": "HASH"}]}])
        with films.batch_writer() as batch:
            for number in range(1, 301):
                batch.put_item(Item={"studio": "a", "number": number, "year": 1900 + number % 3,
                                     "title": f"Film {number}", "tags": {"x", "y"}})
        return films

    def test_prepared_statements_and_boto3_share_a_table(self):
        self.serve("--share", "all")
        films = self.create_films()
        # The schema that the driver learned while the table was made.
        self.cluster.refresh_schema_metadata()
        known = self.cluster.metadata.keyspaces["dynamodb"].tables["films"]
        self.assertEqual([column.name for column in known.primary_key], ["studio", "number"])
        self.assertIn("by_year", known.indexes)
        self.assertIn('CREATE TABLE dynamodb.films', known.export_as_string())
        self.session.execute("ALTER TABLE dynamodb.films ADD (title text, tags set<text>, seen timestamp)")
        get = self.session.prepare("SELECT * FROM dynamodb.films WHERE studio = ? AND number = ?")
        row = self.session.execute(get, ["a", decimal.Decimal(7)]).one()
        self.assertEqual((row.title, row.year, set(row.tags), row.other_attributes),
                         ("Film 7", 1901, {"x", "y"}, None))
        put = self.session.prepare(
            "INSERT INTO dynamodb.films (studio, number, title, seen) VALUES (?, ?, ?, ?)")
        self.session.execute(put, ["a", 7, "Seven", 1700000000000])
        item = films.get_item(Key={"studio": "a", "number": 7})["Item"]
        self.assertEqual(item, {"studio": "a", "number": 7, "title": "Seven", "year": 1901,
                                "tags": {"x", "y"}, "seen": 1700000000000})
        # What DynamoDB writes next is seen by the statement that was prepared before.
        films.update_item(Key={"studio": "a", "number": 7}, UpdateExpression="SET score = :one",
                          ExpressionAttributeValues={":one": 1})
        row = self.session.execute(get, ["a", 7]).one()
        self.assertEqual(json.loads(row.other_attributes), {"score": {"N": "1"}})
        # Pages, indexes, ranges of tokens.
        query = SimpleStatement("SELECT number FROM dynamodb.films WHERE studio = 'a'", fetch_size=70)
        self.assertEqual([row.number for row in self.session.execute(query)], list(range(1, 301)))
        by_year = self.session.prepare("SELECT number FROM dynamodb.films WHERE year = ?")
        self.assertEqual(len(list(self.session.execute(by_year, [1901]))), 100)
        tokens = "SELECT count(*) FROM dynamodb.films WHERE token(studio) {} token('a')"
        self.assertEqual([self.session.execute(tokens.format(sign)).one()[0] for sign in ("<=", ">")],
                         [300, 0])
        # Conditions, and a batch with a row of CQL's own.
        update = "UPDATE dynamodb.films SET title = 'Z' WHERE studio = 'a' AND number = 1 IF title = %s"
        self.assertEqual([self.session.execute(update, [own]).was_applied for own in ("x", "Film 1")],
                         [False, True])
        batch = BatchStatement()
        batch.add(SimpleStatement(
            f"INSERT INTO {self.keyspace}.orders (customer, number) VALUES ('ada', 1)"))
        batch.add(put, ["b", 1, "B", None])
        self.session.execute(batch)
        self.assertEqual(films.get_item(Key={"studio": "b", "number": 1})["Item"]["title"], "B")
        for text, why in [
            ("UPDATE dynamodb.films USING TTL 5 SET title = 'x' WHERE studio = 'a' AND number = 1", "TTL"),
            ("SELECT writetime(title) FROM dynamodb.films", "write time"),
            ("DROP TABLE dynamodb.films", "belongs to DynamoDB"),
        ]:
            with self.assertRaisesRegex(InvalidRequest, why):
                self.session.execute(text)
        # After a restart, too; then the owner drops it.
        self.served.stop()
        self.served.start()
        self.connect()
        self.assertEqual(self.session.execute(
            "SELECT title FROM dynamodb.films WHERE studio = 'b'").one().title, "B")
        self.dynamodb.Table("films").delete()
        with self.assertRaisesRegex(InvalidRequest, "does not exist"):
            self.session.execute("SELECT * FROM dynamodb.films")

    def test_a_tag_grants_one_table(self):
        self.serve()
        films = self.create_films()
        insert = "INSERT INTO dynamodb.films (studio, number) VALUES ('z', 1)"
        with self.assertRaisesRegex(InvalidRequest, "grants reading alone"):
            self.session.execute(insert)
        arn = films.table_arn
        client = self.dynamodb.meta.client
        client.tag_resource(ResourceArn=arn, Tags=[{"Key": "shelfmark:share", "Value": "all"}])
        self.session.execute(insert)
        client.tag_resource(ResourceArn=arn, Tags=[{"Key": "shelfmark:share", "Value": "none"}])
        with self.assertRaisesRegex(InvalidRequest, "does not exist"):
            self.session.execute(insert)


if __name__ == "__main__":
    unittest.main()
