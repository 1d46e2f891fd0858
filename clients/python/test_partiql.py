"""PartiQL by boto3: statements, batches and transactions, also over a server that is killed between
two pages of one statement.

The last part starts a server of its own; SHELFMARK names the command.
"""

import os
import pathlib
import sys
import unittest
import uuid

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

sys.path.append(str(pathlib.Path(__file__).parent / "cql"))
from served import Served  # noqa: E402

ONCE = Config(retries={"total_max_attempts": 1}, read_timeout=10)


def create(client, name):
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )


def pages(client, statement, **more):
    """Reads a statement to its end."""
    items = []
    while True:
        page = client.execute_statement(Statement=statement, **more)
        items += page["Items"]
        if "NextToken" not in page:
            return items
        more["NextToken"] = page["NextToken"]


class Statements(unittest.TestCase):
    def setUp(self):
        self.client = boto3.client("dynamodb")
        self.resource = boto3.resource("dynamodb")
        self.streams = boto3.client("dynamodbstreams")
        self.name = f"partiql-{uuid.uuid4().hex[:8]}"
        create(self.client, self.name)
        self.addCleanup(self.client.delete_table, TableName=self.name)

    def insert(self, pk, sk, **more):
        names = ", ".join(f"'{name}': ?" for name in more)
        values = [{"S": pk}, {"N": str(sk)}, *more.values()]
        self.client.execute_statement(
            Statement=f"INSERT INTO \"{self.name}\" VALUE {{'pk': ?, 'sk': ?{', ' * bool(more)}{names}}}",
            Parameters=values,
        )

    def refused(self, code, operation, **request):
        with self.assertRaises(ClientError) as refused:
            operation(**request)
        self.assertEqual(refused.exception.response["Error"]["Code"], code)
        return refused.exception.response

    def test_every_type_of_parameter_comes_back(self):
        values = {
            "t": {"S": "it's"}, "n": {"N": "-1.5"}, "b": {"B": b"\0\xff"}, "y": {"BOOL": True},
            "z": {"NULL": True}, "l": {"L": [{"N": "1"}, {"S": "x"}]}, "m": {"M": {"a": {"S": "x"}}},
            "ts": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2"]}, "bs": {"BS": [b"a", b"b"]},
        }
        self.insert("a", 1, **values)
        whole = {"pk": {"S": "a"}, "sk": {"N": "1"}, **values}
        found = pages(self.client, f'SELECT * FROM "{self.name}" WHERE pk = \'a\' AND sk = 1')
        self.assertEqual(found, [whole])
        for name, value in values.items():
            found = pages(
                self.client, f'SELECT sk FROM "{self.name}" WHERE "{name}" = ?', Parameters=[value]
            )
            self.assertEqual(found, [{"sk": {"N": "1"}}], name)

    def test_writes_answer_their_images_and_conditions(self):
        self.insert("a", 1, v={"N": "1"})
        where = "WHERE pk = 'a' AND sk = 1"
        update = f'UPDATE "{self.name}" SET v = v + 1 SET m = {{\'x\': [1]}} {where}'
        both = {"v": {"N": "2"}, "m": {"M": {"x": {"L": [{"N": "1"}]}}}}
        answer = self.client.execute_statement(Statement=update + " RETURNING MODIFIED NEW *")
        self.assertEqual(answer["Items"], [both])
        refused = self.refused(
            "ConditionalCheckFailedException",
            self.client.execute_statement,
            Statement=update + " AND v = 7",
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )
        self.assertEqual(refused["Item"]["v"], {"N": "2"})
        insert = f"INSERT INTO \"{self.name}\" VALUE {{'pk': 'a', 'sk': 1}}"
        self.refused("DuplicateItemException", self.client.execute_statement, Statement=insert)
        delete = f'DELETE FROM "{self.name}" {where} RETURNING ALL OLD *'
        whole = {"pk": {"S": "a"}, "sk": {"N": "1"}, **both}
        self.assertEqual(self.client.execute_statement(Statement=delete)["Items"], [whole])
        self.assertEqual(self.client.execute_statement(Statement=delete)["Items"], [])

    def test_pages_of_the_resource_are_the_whole(self):
        table = self.resource.Table(self.name)
        with table.batch_writer() as writer:
            for n in range(25):
                writer.put_item(Item={"pk": "ab"[n % 2], "sk": n})
        for statement, count in (
            (f'SELECT * FROM "{self.name}"', 25),
            (f"SELECT * FROM \"{self.name}\" WHERE pk = 'a' ORDER BY sk DESC", 13),
            (f"SELECT * FROM \"{self.name}\" WHERE pk IN ('b', 'a') AND sk > 2", 22),
        ):
            whole = pages(self.client, statement)
            self.assertEqual(len(whole), count, statement)
            for limit in (1, 3, 24, 100):
                self.assertEqual(pages(self.client, statement, Limit=limit), whole, statement)

    def test_batches_and_transactions(self):
        name = self.name
        insert = f"INSERT INTO \"{name}\" VALUE {{'pk': 'a', 'sk': ?}}"
        one = lambda sk: {"Statement": insert, "Parameters": [{"N": str(sk)}]}  # noqa: E731
        answer = self.client.batch_execute_statement(Statements=[one(n) for n in range(25)])
        self.assertEqual(answer["Responses"], [{"TableName": name}] * 25)
        again = self.client.batch_execute_statement(Statements=[one(1), one(25)])["Responses"]
        self.assertEqual(again[0]["Error"]["Code"], "DuplicateItem")
        self.assertNotIn("Error", again[1])
        exists = f"EXISTS(SELECT * FROM \"{name}\" WHERE pk = 'a' AND sk = 1 AND v IS MISSING)"
        update = f"UPDATE \"{name}\" SET v = 1 WHERE pk = 'a' AND sk = 2"
        token = uuid.uuid4().hex
        for _ in range(2):
            done = self.client.execute_transaction(
                TransactStatements=[{"Statement": exists}, {"Statement": update}, one(30)],
                ClientRequestToken=token,
            )
            self.assertEqual(done["Responses"], [])
        refused = self.refused(
            "TransactionCanceledException",
            self.client.execute_transaction,
            TransactStatements=[one(31), {"Statement": update}, one(30)],
        )
        codes = [reason["Code"] for reason in refused["CancellationReasons"]]
        self.assertEqual(codes, ["None", "None", "DuplicateItem"])
        select = f"SELECT v FROM \"{name}\" WHERE pk = 'a' AND sk = ?"
        read = self.client.execute_transaction(
            TransactStatements=[
                {"Statement": select, "Parameters": [{"N": str(sk)}]} for sk in (2, 30, 31)
            ]
        )
        self.assertEqual(read["Responses"], [{"Item": {"v": {"N": "1"}}}, {"Item": {}}, {}])

    def test_the_stream_has_what_statements_write(self):
        self.insert("a", 1)
        where = "WHERE pk = 'a' AND sk = 1"
        for statement in (
            f'UPDATE "{self.name}" SET v = 1 {where}',
            f'UPDATE "{self.name}" SET v = 1 {where}',
            f'DELETE FROM "{self.name}" {where}',
        ):
            self.client.execute_statement(Statement=statement)
        arn = self.client.describe_table(TableName=self.name)["Table"]["LatestStreamArn"]
        shard = self.streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"][0]
        iterator = self.streams.get_shard_iterator(
            StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        records = self.streams.get_records(ShardIterator=iterator)["Records"]
        events = [record["eventName"] for record in records]
        self.assertEqual(events, ["INSERT", "MODIFY", "REMOVE"])

    def test_malformed_statements_say_so(self):
        for statement in ("SELEKT 1", "SELECT * FROM", "UPDATE x SET", "'", "SELECT * FROM x WHERE"):
            refused = self.refused(
                "ValidationException", self.client.execute_statement, Statement=statement
            )
            self.assertIn("wasn't well formed", refused["Error"]["Message"], statement)


@unittest.skipUnless("SHELFMARK" in os.environ, "SHELFMARK names no command")
class Kill(unittest.TestCase):
    def test_a_token_outlives_its_server(self):
        served = Served()
        self.addCleanup(served.close)

        def connect():
            endpoint = "http://" + served.addresses["dynamodb"]
            return boto3.client("dynamodb", endpoint_url=endpoint, config=ONCE)

        client = connect()
        create(client, "killed")
        for n in range(20):
            statement = f"INSERT INTO killed VALUE {{'pk': '{'ab'[n % 2]}', 'sk': {n}}}"
            client.execute_statement(Statement=statement)
        for select in ("SELECT * FROM killed", "SELECT * FROM killed WHERE pk IN ('a', 'b')"):
            whole, found, token = pages(client, select), [], {}
            while True:
                page = client.execute_statement(Statement=select, Limit=7, **token)
                found += page["Items"]
                if "NextToken" not in page:
                    break
                token = {"NextToken": page["NextToken"]}
                served.kill()
                served.start()
                client = connect()
            self.assertEqual(found, whole, select)


if __name__ == "__main__":
    unittest.main()
