"""Several servers on one TiKV cluster behave as one database, for boto3.

SHELFMARK names the command, SHELFMARK_TIKV the cluster's placement drivers (host:port, with commas).
"""

import os
import pathlib
import random
import sys
import threading
import time
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

sys.path.append(str(pathlib.Path(__file__).parent.parent / "cql"))
from served import Served  # noqa: E402

ACCESS = {
    "aws_access_key_id": "local",
    "aws_secret_access_key": "local",
    "region_name": "eu-central-1",
}


def text(value):
    return {"S": str(value)}


def number(value):
    return {"N": str(value)}


@unittest.skipUnless("SHELFMARK_TIKV" in os.environ, "SHELFMARK_TIKV names no cluster")
class Servers(unittest.TestCase):
    def setUp(self):
        space = f"clients-{time.time_ns():x}"
        engine = f"tikv://{os.environ['SHELFMARK_TIKV']}/{space}"
        self.servers = [Served("--engine", engine) for _ in range(2)]
        for server in self.servers:
            self.addCleanup(server.close)
        self.clients = [self.client("dynamodb", own) for own in range(2)]
        self.streams = [self.client("dynamodbstreams", own) for own in range(2)]

    def client(self, service, own):
        once = Config(retries={"total_max_attempts": 1}, read_timeout=30)
        endpoint = "http://" + self.servers[own].addresses["dynamodb"]
        return boto3.client(service, endpoint_url=endpoint, config=once, **ACCESS)

    def create(self, own, name, **more):
        self.clients[own].create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
            **more,
        )

    def run_all(self, bodies):
        failed = []

        def guarded(body):
            try:
                body()
            except BaseException as error:  # Told by the test's own thread.
                failed.append(error)

        threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])

    def test_tables_appear_and_go_on_both_at_once(self):
        for own in (0, 1, 0):
            name, other = f"table-{own}-{time.time_ns()}", 1 - own
            self.create(own, name)
            self.clients[other].put_item(TableName=name, Item={"a": text("x")})
            found = self.clients[own].get_item(TableName=name, Key={"a": text("x")})
            self.assertEqual(found["Item"], {"a": text("x")})
            self.clients[other].delete_table(TableName=name)
            with self.assertRaises(self.clients[own].exceptions.ResourceNotFoundException):
                self.clients[own].get_item(TableName=name, Key={"a": text("x")})

    def test_an_index_made_by_one_has_what_both_write_meanwhile(self):
        self.create(0, "indexed")
        done, writes = threading.Event(), []

        def write(seed):
            draw, client = random.Random(seed), self.clients[seed % 2]
            while not done.is_set():
                key = text(draw.randrange(40))
                if draw.random() < 0.5:
                    item = {"a": key, "g": text(draw.randrange(4))}
                    client.put_item(TableName="indexed", Item=item)
                else:
                    client.delete_item(TableName="indexed", Key={"a": key})
                writes.append(seed)

        def index():
            try:
                for own, name in enumerate(("by_g", "by_g_again")):
                    before = len(writes)
                    create = {
                        "IndexName": name,
                        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                        "Projection": {"ProjectionType": "ALL"},
                    }
                    self.clients[own].update_table(
                        TableName="indexed",
                        AttributeDefinitions=[{"AttributeName": "g", "AttributeType": "S"}],
                        GlobalSecondaryIndexUpdates=[{"Create": create}],
                    )
                    self.wait_for(lambda: self.is_active(1 - own, name))
                    self.wait_for(lambda: len(writes) > before + 20)
            finally:
                done.set()

        self.run_all([index, *(lambda seed=seed: write(seed) for seed in range(6))])

        def items(own, **of):
            found = self.clients[own].scan(TableName="indexed", **of)["Items"]
            return sorted((item["a"]["S"], item["g"]["S"]) for item in found)

        rows = items(0)
        for own in (0, 1):
            for name in ("by_g", "by_g_again"):
                self.assertEqual(items(own, IndexName=name), rows)

    def is_active(self, own, name):
        table = self.clients[own].describe_table(TableName="indexed")["Table"]
        states = {own["IndexName"]: own["IndexStatus"] for own in table["GlobalSecondaryIndexes"]}
        return states.get(name) == "ACTIVE"

    def wait_for(self, is_so):
        for _ in range(1200):
            if is_so():
                return
            time.sleep(0.05)
        self.fail("it never became so")

    def test_a_stream_read_from_both_holds_each_change_once_and_in_order(self):
        view = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        self.create(0, "streamed", StreamSpecification=view)
        arn = self.clients[1].describe_table(TableName="streamed")["Table"]["LatestStreamArn"]
        counts, iterators, read = {}, {}, 0

        def add(seed):
            for _ in range(40):
                self.clients[seed % 2].update_item(
                    TableName="streamed",
                    Key={"a": text(seed % 3)},
                    UpdateExpression="ADD n :one",
                    ExpressionAttributeValues={":one": number(1)},
                )

        def follow():
            nonlocal read
            for turn in range(2400):
                streams = self.streams[turn % 2]
                described = streams.describe_stream(StreamArn=arn)["StreamDescription"]
                for shard in described["Shards"]:
                    own = shard["ShardId"]
                    if own not in iterators:
                        iterators[own] = streams.get_shard_iterator(
                            StreamArn=arn, ShardId=own, ShardIteratorType="TRIM_HORIZON"
                        )["ShardIterator"]
                    page = streams.get_records(ShardIterator=iterators[own])
                    iterators[own] = page["NextShardIterator"]
                    for record in page["Records"]:
                        image = record["dynamodb"]["NewImage"]
                        key, count = image["a"]["S"], int(image["n"]["N"])
                        self.assertEqual(count, counts.get(key, 0) + 1)
                        counts[key] = count
                        read += 1
                if read == 6 * 40:
                    return
                time.sleep(0.02)

        self.run_all([follow, *(lambda seed=seed: add(seed) for seed in range(6))])
        self.assertEqual(counts, {"0": 80, "1": 80, "2": 80})

    def test_one_that_is_killed_loses_nothing_and_holds_nobody_up_for_long(self):
        self.create(0, "killed")
        acknowledged = []

        def write(seed):
            client, n = self.clients[seed % 2], 0
            while len(acknowledged) < 400:
                n += 1
                items = [{"a": text(f"{seed}-{n}-{half}")} for half in "xy"]
                puts = [{"Put": {"TableName": "killed", "Item": item}} for item in items]
                try:
                    client.transact_write_items(TransactItems=puts)
                except (BotoCoreError, ClientError):
                    # Of the server that is gone; the other one has to go on.
                    self.assertEqual(seed % 2, 1)
                    return
                acknowledged.append(f"{seed}-{n}")

        def kill():
            self.wait_for(lambda: len(acknowledged) > 150)
            self.servers[1].kill()
            # A change of tables waits for the one that is gone, until its lease is over.
            self.create(0, "afterwards")

        self.run_all([kill, *(lambda seed=seed: write(seed) for seed in range(6))])
        pages = self.clients[0].get_paginator("scan").paginate(TableName="killed")
        rows = {item["a"]["S"] for page in pages for item in page["Items"]}
        pairs = {row.rpartition("-")[0] for row in rows}
        self.assertEqual({f"{pair}-{half}" for pair in pairs for half in "xy"}, rows)
        self.assertEqual(set(acknowledged) - pairs, set())


if __name__ == "__main__":
    unittest.main()
