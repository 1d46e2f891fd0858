"""boto3 against a running server: change streams, and two kinds of readers of them."""

import random
import threading
import time
import unittest
import uuid

import boto3
from botocore.exceptions import ClientError

from stream_readers import Poller, Worker, all_shards

client = boto3.client("dynamodb")
resource = boto3.resource("dynamodb")
streams = boto3.client("dynamodbstreams")


def new_table(view="NEW_AND_OLD_IMAGES"):
    """Creates a table with a stream and returns its name and the stream's ARN."""
    name = f"stream-{uuid.uuid4()}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": view},
    )
    client.get_waiter("table_exists").wait(TableName=name)
    table = client.describe_table(TableName=name)["Table"]
    assert table["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": view}
    assert table["LatestStreamArn"].endswith(table["LatestStreamLabel"])
    return name, table["LatestStreamArn"]


def put(name, pk, **attributes):
    item = {"pk": {"S": pk}, **{key: {"N": str(n)} for key, n in attributes.items()}}
    client.put_item(TableName=name, Item=item)


def everything(arn):
    """Reads all records of a stream that are there now."""
    poller = Poller(arn)
    while poller.look():
        pass
    return poller.records


def applied(records):
    """Applies records to an empty table; checks that each follows from those before it."""
    items, seen = {}, set()
    for record in records:
        change = record["dynamodb"]
        assert record["eventID"] not in seen, "each change once"
        seen.add(record["eventID"])
        pk = change["Keys"]["pk"]["S"]
        assert change.get("OldImage") == items.get(pk), (change, items.get(pk))
        expected = ("MODIFY" if pk in items else "INSERT") if "NewImage" in change else "REMOVE"
        assert record["eventName"] == expected, record
        if "NewImage" in change:
            items[pk] = change["NewImage"]
        else:
            del items[pk]
    return items


class Streams(unittest.TestCase):
    def refused(self, code, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["Error"]["Code"], code)
        return caught.exception.response["Error"]["Message"]

    def test_records_have_the_members_of_the_service(self):
        name, arn = new_table()
        put(name, "a", n=1)
        put(name, "a", n=1)
        put(name, "a", n=2)
        client.delete_item(TableName=name, Key={"pk": {"S": "a"}})
        records = everything(arn)
        self.assertEqual([own["eventName"] for own in records], ["INSERT", "MODIFY", "REMOVE"])
        first = records[0]
        self.assertEqual(first["eventSource"], "aws:dynamodb")
        self.assertEqual(first["eventVersion"], "1.1")
        self.assertNotIn("userIdentity", first)
        change = first["dynamodb"]
        self.assertEqual(change["Keys"], {"pk": {"S": "a"}})
        self.assertEqual(change["NewImage"], {"pk": {"S": "a"}, "n": {"N": "1"}})
        self.assertEqual(change["StreamViewType"], "NEW_AND_OLD_IMAGES")
        self.assertGreater(change["SizeBytes"], 0)
        self.assertLess(abs(change["ApproximateCreationDateTime"].timestamp() - time.time()), 60)
        numbers = [int(own["dynamodb"]["SequenceNumber"]) for own in records]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertTrue(21 <= len(change["SequenceNumber"]) <= 40)
        listed = streams.list_streams(TableName=name)["Streams"]
        self.assertEqual([own["StreamArn"] for own in listed], [arn])

    def test_each_view_shows_what_it_should(self):
        for view, images in [
            ("KEYS_ONLY", []),
            ("NEW_IMAGE", ["NewImage"]),
            ("OLD_IMAGE", ["OldImage"]),
            ("NEW_AND_OLD_IMAGES", ["NewImage", "OldImage"]),
        ]:
            name, arn = new_table(view)
            put(name, "a", n=1)
            put(name, "a", n=2)
            change = everything(arn)[1]["dynamodb"]
            self.assertEqual([own for own in change if own.endswith("Image")], images, view)
            self.assertEqual(change["Keys"], {"pk": {"S": "a"}})

    def test_iterators_begin_where_they_should(self):
        name, arn = new_table()
        [shard] = all_shards(arn)

        def after(kind, **number):
            iterator = streams.get_shard_iterator(
                StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType=kind, **number
            )["ShardIterator"]
            return iterator

        def read(iterator):
            records = streams.get_records(ShardIterator=iterator)["Records"]
            return [own["dynamodb"]["NewImage"]["n"]["N"] for own in records]

        for n in range(4):
            put(name, "a", n=n)
        latest = after("LATEST")
        put(name, "a", n=4)
        self.assertEqual(read(latest), ["4"])
        self.assertEqual(read(after("TRIM_HORIZON")), ["0", "1", "2", "3", "4"])
        number = everything(arn)[2]["dynamodb"]["SequenceNumber"]
        self.assertEqual(read(after("AT_SEQUENCE_NUMBER", SequenceNumber=number)), ["2", "3", "4"])
        self.assertEqual(read(after("AFTER_SEQUENCE_NUMBER", SequenceNumber=number)), ["3", "4"])
        first = shard["SequenceNumberRange"]["StartingSequenceNumber"]
        self.assertEqual(len(read(after("AT_SEQUENCE_NUMBER", SequenceNumber=first))), 5)

    def test_a_stream_can_be_read_when_it_is_off_and_when_its_table_is_gone(self):
        name, first = new_table()
        put(name, "a", n=1)
        off = {"StreamEnabled": False}
        client.update_table(TableName=name, StreamSpecification=off)
        table = client.describe_table(TableName=name)["Table"]
        self.assertNotIn("StreamSpecification", table)
        self.assertEqual(table["LatestStreamArn"], first)
        text = self.refused(
            "ValidationException", client.update_table, TableName=name, StreamSpecification=off
        )
        self.assertEqual(text, f"Table has no stream to disable: TableName: {name}")
        put(name, "unheard", n=1)
        on = {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
        client.update_table(TableName=name, StreamSpecification=on)
        text = self.refused(
            "ValidationException", client.update_table, TableName=name, StreamSpecification=on
        )
        self.assertEqual(text, f"Table already has an enabled stream: TableName: {name}")
        second = client.describe_table(TableName=name)["Table"]["LatestStreamArn"]
        self.assertNotEqual(first, second)
        put(name, "b", n=1)
        client.delete_table(TableName=name)
        listed = streams.list_streams(TableName=name)["Streams"]
        self.assertEqual([own["StreamArn"] for own in listed], [first, second])
        for arn, key in [(first, "a"), (second, "b")]:
            described = streams.describe_stream(StreamArn=arn)["StreamDescription"]
            self.assertEqual(described["StreamStatus"], "DISABLED")
            ends = [own["SequenceNumberRange"]["EndingSequenceNumber"] for own in described["Shards"]]
            self.assertEqual(len(ends), 1)
            poller = Poller(arn)
            while poller.look():
                pass
            self.assertEqual([own["dynamodb"]["Keys"] for own in poller.records], [{"pk": {"S": key}}])
            self.assertEqual(list(poller.iterators.values()), [None], "the shard has an end")

    def test_an_expired_item_is_removed_by_the_service(self):
        name, arn = new_table()
        client.update_time_to_live(
            TableName=name,
            TimeToLiveSpecification={"Enabled": True, "AttributeName": "until"},
        )
        put(name, "a", until=int(time.time()) - 10)
        poller = Poller(arn)
        poller.run_until(lambda: len(poller.records) >= 2)
        removal = poller.records[-1]
        self.assertEqual(removal["eventName"], "REMOVE")
        self.assertEqual(
            removal["userIdentity"],
            {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"},
        )

    def test_what_is_asked_wrongly_is_refused(self):
        name, arn = new_table()
        [shard] = all_shards(arn)
        self.refused(
            "ResourceNotFoundException", streams.describe_stream, StreamArn=arn[:-1] + "x"
        )
        wrong = "arn:aws:dynamodb:us-east-1:000000000000:table/absent"
        self.refused("ValidationException", streams.describe_stream, StreamArn=wrong)
        self.refused(
            "ResourceNotFoundException",
            streams.get_shard_iterator,
            StreamArn=arn,
            ShardId=shard["ShardId"][:-1] + "9",
            ShardIteratorType="LATEST",
        )
        self.refused("ValidationException", streams.get_records, ShardIterator="none")


class Readers(unittest.TestCase):
    """Writers at work while readers read; what was read is what happened."""

    def write(self, name, seed, rounds=60):
        draw = random.Random(seed)
        for n in range(rounds):
            # Each writer has items of its own, so that it knows what is there.
            key = lambda: {"pk": {"S": f"{seed}-{draw.randrange(8)}"}}
            kind = draw.randrange(5)
            if kind == 0:
                client.delete_item(TableName=name, Key=key())
            elif kind == 1:
                client.update_item(
                    TableName=name,
                    Key=key(),
                    UpdateExpression="ADD n :n",
                    ExpressionAttributeValues={":n": {"N": str(draw.randrange(2))}},
                )
            elif kind == 2:
                puts = {draw.randrange(8) for _ in range(4)}
                client.transact_write_items(
                    TransactItems=[
                        {"Put": {"TableName": name, "Item": {"pk": {"S": f"{seed}-{own}"}, "n": {"N": str(n)}}}}
                        for own in puts
                    ]
                )
            elif kind == 3:
                writes = {draw.randrange(8) for _ in range(4)}
                client.batch_write_item(
                    RequestItems={
                        name: [
                            {"PutRequest": {"Item": {"pk": {"S": f"{seed}-{own}"}, "b": {"N": str(n)}}}}
                            for own in writes
                        ]
                    }
                )
            else:
                client.put_item(TableName=name, Item={**key(), "n": {"N": str(draw.randrange(3))}})

    def start(self, name):
        writers = [threading.Thread(target=self.write, args=(name, seed)) for seed in range(4)]
        for writer in writers:
            writer.start()
        return writers

    def contents(self, name):
        pages = client.get_paginator("scan").paginate(TableName=name)
        return {item["pk"]["S"]: item for page in pages for item in page["Items"]}

    def test_a_poller_sees_every_change_once_and_in_order(self):
        name, arn = new_table()
        writers = self.start(name)
        poller = Poller(arn)
        poller.run_until(lambda: not any(writer.is_alive() for writer in writers))
        poller.look()
        self.assertEqual(applied(poller.records), self.contents(name))
        self.assertGreater(len(poller.records), 100)

    def test_workers_with_leases_see_every_change_once_and_in_order(self):
        name, arn = new_table()
        leases = resource.create_table(
            TableName=f"leases-{uuid.uuid4()}",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "lease", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "lease", "KeyType": "HASH"}],
        )
        writers = self.start(name)
        records = []
        workers = [Worker(arn, leases, f"worker-{own}", records.append) for own in range(3)]
        turns = 0
        while any(writer.is_alive() for writer in writers):
            workers[turns % 3].turn()
            turns += 1
        client.update_table(TableName=name, StreamSpecification={"StreamEnabled": False})
        while workers[turns % 3].turn(pages=100):
            turns += 1
        self.assertEqual(applied(records), self.contents(name))


if __name__ == "__main__":
    unittest.main()
