"""Two readers of a change stream, as consumers of the service are written.

`Poller` follows every shard from its start, as a small consumer does. `Worker` works as the Kinesis
Client Library with its adapter for streams: shards are found page by page, a lease table says who
reads which and how far, a shard is begun when its parent is finished, and a worker that takes a lease
over goes on behind the last checkpoint.
"""

import time

import boto3

streams = boto3.client("dynamodbstreams")


def all_shards(arn, page=2):
    """Returns the shards of a stream, read in pages of `page`."""
    found, start = [], {}
    while True:
        answer = streams.describe_stream(StreamArn=arn, Limit=page, **start)["StreamDescription"]
        found += answer["Shards"]
        if "LastEvaluatedShardId" not in answer:
            return found
        start = {"ExclusiveStartShardId": answer["LastEvaluatedShardId"]}


class Poller:
    """Reads all shards in turn; `records` holds what was read, in the order of reading."""

    def __init__(self, arn):
        self.arn = arn
        self.iterators = {}
        self.records = []

    def look(self):
        """Reads one page of every shard; returns how many records there were."""
        for shard in all_shards(self.arn):
            name, parent = shard["ShardId"], shard.get("ParentShardId")
            if name not in self.iterators and self.iterators.get(parent) is None:
                answer = streams.get_shard_iterator(
                    StreamArn=self.arn, ShardId=name, ShardIteratorType="TRIM_HORIZON"
                )
                self.iterators[name] = answer["ShardIterator"]
        read = 0
        for name, iterator in list(self.iterators.items()):
            if iterator is not None:
                answer = streams.get_records(ShardIterator=iterator, Limit=100)
                self.records += answer["Records"]
                self.iterators[name] = answer.get("NextShardIterator")
                read += len(answer["Records"])
        return read

    def run_until(self, is_done, seconds=60):
        """Reads until there is nothing new and `is_done` says so."""
        for _ in range(seconds * 20):
            if self.look() == 0 and is_done():
                return
            time.sleep(0.05)
        raise AssertionError("the reader did not come to an end")


class Worker:
    """One of several workers that share the leases of a stream in a table."""

    def __init__(self, arn, leases, name, process):
        self.arn, self.leases, self.name, self.process = arn, leases, name, process

    def find_shards(self):
        """Enters the shards that are new into the lease table."""
        for shard in all_shards(self.arn, page=1):
            try:
                self.leases.put_item(
                    Item={
                        "lease": shard["ShardId"],
                        "parent": shard.get("ParentShardId", "-"),
                        "checkpoint": "TRIM_HORIZON",
                        "owner": "-",
                        "counter": 0,
                    },
                    ConditionExpression="attribute_not_exists(lease)",
                )
            except self.leases.meta.client.exceptions.ConditionalCheckFailedException:
                pass

    def take(self, lease):
        """Takes a lease, unless somebody else was faster."""
        try:
            self.leases.update_item(
                Key={"lease": lease["lease"]},
                UpdateExpression="SET #o = :me, #c = #c + :one",
                ConditionExpression="#c = :seen",
                ExpressionAttributeNames={"#o": "owner", "#c": "counter"},
                ExpressionAttributeValues={":me": self.name, ":one": 1, ":seen": lease["counter"]},
            )
            return True
        except self.leases.meta.client.exceptions.ConditionalCheckFailedException:
            return False

    def checkpoint(self, shard, at):
        """Notes how far the shard was read."""
        self.leases.update_item(
            Key={"lease": shard},
            UpdateExpression="SET checkpoint = :at",
            ExpressionAttributeValues={":at": at},
        )

    def turn(self, pages=2):
        """Takes one lease that may be read, reads some pages and lets it go; tells whether it did."""
        self.find_shards()
        leases = {lease["lease"]: lease for lease in self.leases.scan()["Items"]}
        for lease in sorted(leases.values(), key=lambda lease: lease["counter"]):
            parent = leases.get(lease["parent"])
            if lease["checkpoint"] == "SHARD_END":
                continue
            if parent is not None and parent["checkpoint"] != "SHARD_END":
                continue
            if self.take(lease):
                self.read(lease, pages)
                return True
        return False

    def read(self, lease, pages):
        shard, at = lease["lease"], lease["checkpoint"]
        position = (
            {"ShardIteratorType": "TRIM_HORIZON"}
            if at == "TRIM_HORIZON"
            else {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": at}
        )
        answer = streams.get_shard_iterator(StreamArn=self.arn, ShardId=shard, **position)
        iterator = answer["ShardIterator"]
        for _ in range(pages):
            answer = streams.get_records(ShardIterator=iterator, Limit=50)
            for record in answer["Records"]:
                self.process(record)
            if answer["Records"]:
                at = answer["Records"][-1]["dynamodb"]["SequenceNumber"]
                self.checkpoint(shard, at)
            iterator = answer.get("NextShardIterator")
            if iterator is None:
                self.checkpoint(shard, "SHARD_END")
                return
