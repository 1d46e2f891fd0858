"""A server that is killed while a table with a stream is written: the stream is what happened.

Starts servers of its own; SHELFMARK names the command.
"""

import os
import pathlib
import random
import sys
import threading
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

sys.path.append(str(pathlib.Path(__file__).parent / "cql"))
from served import Served  # noqa: E402

ROUNDS = 3
WRITERS = 4
KEYS = 6


@unittest.skipUnless("SHELFMARK" in os.environ, "SHELFMARK names no command")
class Kill(unittest.TestCase):
    def setUp(self):
        self.served = Served()
        self.addCleanup(self.served.close)
        once = Config(retries={"total_max_attempts": 1}, read_timeout=10)
        endpoint = "http://" + self.served.addresses["dynamodb"]
        self.client = boto3.client("dynamodb", endpoint_url=endpoint, config=once)
        self.streams = boto3.client("dynamodbstreams", endpoint_url=endpoint, config=once)
        self.client.create_table(
            TableName="killed",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
        )
        described = self.client.describe_table(TableName="killed")["Table"]
        self.arn = described["LatestStreamArn"]

    def write(self, seed, acknowledged):
        """Writes until the server is gone; notes the number of every write that was answered."""
        draw, n = random.Random(seed), seed * 1_000_000
        while True:
            n += 1
            item = {"pk": {"S": f"{seed}-{draw.randrange(KEYS)}"}, "n": {"N": str(n)}}
            try:
                if draw.randrange(3) == 0:
                    other = {"pk": {"S": f"{seed}-x"}, "n": {"N": str(n)}}
                    self.client.transact_write_items(
                        TransactItems=[
                            {"Put": {"TableName": "killed", "Item": own}} for own in (item, other)
                        ]
                    )
                else:
                    self.client.put_item(TableName="killed", Item=item)
                acknowledged.append(n)
            except (BotoCoreError, ClientError):
                return

    def records(self):
        [shard] = self.streams.describe_stream(StreamArn=self.arn)["StreamDescription"]["Shards"]
        iterator = self.streams.get_shard_iterator(
            StreamArn=self.arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON"
        )["ShardIterator"]
        found = []
        while True:
            page = self.streams.get_records(ShardIterator=iterator)
            if not page["Records"]:
                return found
            found += page["Records"]
            iterator = page["NextShardIterator"]

    def test_after_each_kill_the_stream_holds_what_was_acknowledged(self):
        acknowledged, before = [], []
        for round_ in range(ROUNDS):
            writers = [
                threading.Thread(target=self.write, args=(round_ * WRITERS + own, acknowledged))
                for own in range(WRITERS)
            ]
            for writer in writers:
                writer.start()
            wanted = 50 * (round_ + 1)
            while len(acknowledged) < wanted and any(own.is_alive() for own in writers):
                threading.Event().wait(0.01)
            self.served.kill()
            for writer in writers:
                writer.join()
            self.served.start()
            records = self.records()
            self.assertEqual(records[: len(before)], before, "records stay as they were")
            before = records
            items = {}
            for record in records:
                change = record["dynamodb"]
                pk = change["Keys"]["pk"]["S"]
                self.assertEqual(change.get("OldImage"), items.get(pk))
                items[pk] = change["NewImage"]
            scanned = self.client.scan(TableName="killed")["Items"]
            self.assertEqual(items, {item["pk"]["S"]: item for item in scanned})
            logged = {int(own["dynamodb"]["NewImage"]["n"]["N"]) for own in records}
            self.assertEqual(set(acknowledged) - logged, set(), "nothing acknowledged is lost")
        self.assertGreater(len(acknowledged), 100)


if __name__ == "__main__":
    unittest.main()
