"""Backups, restores, exports and imports as programs use them, and beside a server that is killed.

Starts servers of its own; SHELFMARK names the command.
"""

import base64
import gzip
import hashlib
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import unittest

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

sys.path.append(str(pathlib.Path(__file__).parent / "cql"))
from served import Served  # noqa: E402

SOON = {"Delay": 1, "MaxAttempts": 60}
KEY = {
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}


@unittest.skipUnless("SHELFMARK" in os.environ, "SHELFMARK names no command")
class WithBuckets(unittest.TestCase):
    def setUp(self):
        self.buckets = pathlib.Path(tempfile.mkdtemp(prefix="shelfmark-buckets-"))
        self.addCleanup(shutil.rmtree, self.buckets, ignore_errors=True)
        (self.buckets / "my-bucket").mkdir()
        self.served = Served("--buckets", str(self.buckets))
        self.addCleanup(self.served.close)
        self.client = boto3.client(
            "dynamodb",
            endpoint_url="http://" + self.served.addresses["dynamodb"],
            config=Config(retries={"total_max_attempts": 3}),
        )

    def create(self, name):
        self.client.create_table(TableName=name, **KEY)

    def items(self, table):
        pages = self.client.get_paginator("scan").paginate(TableName=table)
        return {item["pk"]["S"]: item for page in pages for item in page["Items"]}

    def until_active(self, table):
        self.client.get_waiter("table_exists").wait(TableName=table, WaiterConfig=SOON)

    def until_available(self, arn):
        for _ in range(300):
            details = self.client.describe_backup(BackupArn=arn)["BackupDescription"]
            if details["BackupDetails"]["BackupStatus"] == "AVAILABLE":
                return
            time.sleep(0.1)
        self.fail("the backup is never available")

    def until_earliest(self, table):
        for _ in range(300):
            described = self.client.describe_continuous_backups(TableName=table)
            recovery = described["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
            if "EarliestRestorableDateTime" in recovery:
                return recovery
            time.sleep(0.1)
        self.fail("the first copy is never whole")

    def switch_on(self, table):
        self.client.update_continuous_backups(
            TableName=table,
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
        self.until_earliest(table)

    def export(self, table, **more):
        arn = self.client.describe_table(TableName=table)["Table"]["TableArn"]
        started = self.client.export_table_to_point_in_time(
            TableArn=arn, S3Bucket="my-bucket", **more
        )
        return started["ExportDescription"]["ExportArn"]

    def import_table(self, prefix, table, packed="GZIP"):
        started = self.client.import_table(
            S3BucketSource={"S3Bucket": "my-bucket", "S3KeyPrefix": prefix},
            InputFormat="DYNAMODB_JSON",
            InputCompressionType=packed,
            TableCreationParameters={"TableName": table, **KEY},
        )
        return started["ImportTableDescription"]["ImportArn"]


class Ordinary(WithBuckets):
    def test_from_a_backup_to_an_import(self):
        self.create("source")
        for n in range(5):
            item = {"pk": {"S": f"k{n}"}, "b": {"B": bytes([n])}, "m": {"M": {"n": {"N": str(n)}}}}
            self.client.put_item(TableName="source", Item=item)
        expected = self.items("source")
        arns = []
        for name in ("one", "two", "three"):
            details = self.client.create_backup(TableName="source", BackupName=name)
            arns.append(details["BackupDetails"]["BackupArn"])
            self.until_available(arns[-1])
        pages = self.client.get_paginator("list_backups").paginate(PaginationConfig={"PageSize": 2})
        listed = [own["BackupArn"] for page in pages for own in page["BackupSummaries"]]
        self.assertEqual(listed, arns)
        self.client.put_item(TableName="source", Item={"pk": {"S": "later"}})
        self.client.restore_table_from_backup(TargetTableName="back", BackupArn=arns[0])
        self.until_active("back")
        self.assertEqual(self.items("back"), expected)
        self.client.delete_backup(BackupArn=arns[0])
        with self.assertRaises(self.client.exceptions.BackupNotFoundException):
            self.client.describe_backup(BackupArn=arns[0])

        self.switch_on("source")
        self.client.restore_table_to_point_in_time(
            SourceTableName="source", TargetTableName="latest", UseLatestRestorableTime=True
        )
        self.until_active("latest")
        self.assertEqual(self.items("latest"), self.items("source"))

        arn = self.export("source", S3Prefix="exports")
        self.client.get_waiter("export_completed").wait(ExportArn=arn, WaiterConfig=SOON)
        described = self.client.describe_export(ExportArn=arn)["ExportDescription"]
        self.assertEqual(described["ItemCount"], 6)
        self.check_manifest(described["ExportManifest"])
        folder = described["ExportManifest"].rpartition("/")[0]
        arn = self.import_table(f"{folder}/data/", "again")
        self.client.get_waiter("import_completed").wait(ImportArn=arn, WaiterConfig=SOON)
        described = self.client.describe_import(ImportArn=arn)["ImportTableDescription"]
        counts = [described[own] for own in ("ImportedItemCount", "ProcessedItemCount", "ErrorCount")]
        self.assertEqual(counts, [6, 6, 0])
        self.assertEqual(self.items("again"), self.items("source"))

        self.client.delete_table(TableName="source")
        of_system = self.client.list_backups(BackupType="SYSTEM")["BackupSummaries"]
        self.assertEqual([own["BackupName"] for own in of_system], ["source$DeletedTableBackup"])

    def check_manifest(self, key):
        """Checks sums and counts as a reader of the service's exports does."""
        bucket = self.buckets / "my-bucket"

        def summed(path):
            data = path.read_bytes()
            digest = base64.b64encode(hashlib.md5(data).digest()).decode()
            self.assertEqual(path.with_suffix(".md5").read_text(), digest)
            return data

        summary = json.loads(summed(bucket / key))
        lines = summed(bucket / summary["manifestFilesS3Key"]).decode().splitlines()
        items = 0
        for line in map(json.loads, lines):
            data = (bucket / line["dataFileS3Key"]).read_bytes()
            digest = hashlib.md5(data)
            self.assertEqual(line["md5Checksum"], base64.b64encode(digest.digest()).decode())
            self.assertEqual(line["etag"], digest.hexdigest() + "-1")
            rows = [json.loads(row) for row in gzip.decompress(data).splitlines()]
            self.assertEqual(line["itemCount"], len(rows))
            self.assertTrue(all(set(row) == {"Item"} for row in rows))
            items += len(rows)
        self.assertEqual(summary["itemCount"], items)


class Kill(WithBuckets):
    """The server is killed in the middle of everything, and each thing is whole or gone at the end."""

    def setUp(self):
        super().setUp()
        self.random = random.Random(17)
        self.create("source")
        for batch in range(48):
            puts = []
            for n in range(25):
                item = {
                    "pk": {"S": f"{batch}-{n}"},
                    "text": {"S": "x" * self.random.randrange(8_000, 16_000)},
                }
                puts.append({"PutRequest": {"Item": item}})
            self.client.batch_write_item(RequestItems={"source": puts})
        self.expected = self.items("source")

    def kill(self):
        time.sleep(self.random.random() * 1.2)
        self.served.kill()
        self.served.start()

    def check_whole(self, table):
        """A table that is not whole shows nothing; one that is has every item."""
        for _ in range(600):
            status = self.client.describe_table(TableName=table)["Table"]["TableStatus"]
            if status == "ACTIVE":
                break
            with self.assertRaises(ClientError) as refused:
                self.client.get_item(TableName=table, Key={"pk": {"S": "0-0"}})
                still = self.client.describe_table(TableName=table)["Table"]["TableStatus"]
                # It may have become whole between the two questions.
                if still == "ACTIVE":
                    raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetItem")
            code = refused.exception.response["Error"]["Code"]
            self.assertEqual(code, "ResourceNotFoundException")
            time.sleep(0.05)
        self.assertTrue(self.items(table) == self.expected, table)

    def test_everything_goes_on(self):
        arn = self.client.create_backup(TableName="source", BackupName="killed")
        arn = arn["BackupDetails"]["BackupArn"]
        self.kill()
        self.until_available(arn)
        self.client.restore_table_from_backup(TargetTableName="back", BackupArn=arn)
        self.kill()
        self.check_whole("back")
        self.client.update_continuous_backups(
            TableName="source",
            PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": True},
        )
        self.kill()
        self.until_earliest("source")
        self.client.put_item(TableName="source", Item={"pk": {"S": "one more"}})
        self.expected = self.items("source")
        self.client.restore_table_to_point_in_time(
            SourceTableName="source", TargetTableName="latest", UseLatestRestorableTime=True
        )
        self.kill()
        self.check_whole("latest")
        arn = self.export("source")
        self.kill()
        self.client.get_waiter("export_completed").wait(ExportArn=arn, WaiterConfig=SOON)
        described = self.client.describe_export(ExportArn=arn)["ExportDescription"]
        self.assertEqual(described["ItemCount"], len(self.expected))
        folder = described["ExportManifest"].rpartition("/")[0]
        arn = self.import_table(f"{folder}/data/", "again")
        self.kill()
        self.client.get_waiter("import_completed").wait(ImportArn=arn, WaiterConfig=SOON)
        self.check_whole("again")


if __name__ == "__main__":
    unittest.main()
