"""Regions and accounts: each has its own tables, unless the server shows everybody one set.

Starts servers of its own; SHELFMARK names the command.
"""

import os
import pathlib
import sys
import unittest

import boto3
from botocore.exceptions import ClientError

sys.path.append(str(pathlib.Path(__file__).parent / "cql"))
from served import Served  # noqa: E402

PLACES = [("eu-west-1", "first"), ("us-east-1", "first"), ("eu-west-1", "123456789012")]


@unittest.skipUnless("SHELFMARK" in os.environ, "SHELFMARK names no command")
class Scopes(unittest.TestCase):
    def serve(self, *flags):
        self.served = Served(*flags)
        self.addCleanup(self.served.close)

    def client(self, place, service="dynamodb"):
        region, key = place
        return boto3.client(
            service, endpoint_url="http://" + self.served.addresses["dynamodb"],
            region_name=region, aws_access_key_id=key, aws_secret_access_key="any")

    def create(self, place, name="Music"):
        created = self.client(place).create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
        return created["TableDescription"]

    def get(self, place):
        got = self.client(place).get_item(TableName="Music", Key={"pk": {"S": "a"}})
        return got["Item"]["place"]["S"]

    def refused(self, code, call, **arguments):
        with self.assertRaises(ClientError) as raised:
            call(**arguments)
        self.assertEqual(raised.exception.response["Error"]["Code"], code)

    def test_each_place_has_its_own(self):
        self.serve()
        for region, key in PLACES:
            described = self.create((region, key))
            account = key if key.isdigit() else "000000000000"
            self.assertEqual(
                described["TableArn"], f"arn:aws:dynamodb:{region}:{account}:table/Music")
            self.client((region, key)).put_item(
                TableName="Music", Item={"pk": {"S": "a"}, "place": {"S": region + key}})
        self.served.stop()
        self.served.start()
        for region, key in PLACES:
            self.assertEqual(self.get((region, key)), region + key)
            streams = self.client((region, key), "dynamodbstreams").list_streams()["Streams"]
            self.assertEqual(len(streams), 1)
            self.assertIn(f":{region}:", streams[0]["StreamArn"])
        first, second = self.client(PLACES[0]), self.client(PLACES[1])
        arn = first.describe_table(TableName="Music")["Table"]["TableArn"]
        first.tag_resource(ResourceArn=arn, Tags=[{"Key": "team", "Value": "one"}])
        self.assertEqual(first.describe_table(TableName=arn)["Table"]["TableArn"], arn)
        self.refused("ResourceNotFoundException", second.describe_table, TableName=arn)
        own = second.describe_table(TableName="Music")["Table"]["TableArn"]
        self.assertEqual(second.list_tags_of_resource(ResourceArn=own)["Tags"], [])
        second.delete_table(TableName="Music")
        self.assertEqual(second.list_tables()["TableNames"], [])
        self.assertEqual(self.get(PLACES[0]), "eu-west-1first")
        self.refused(
            "ResourceNotFoundException", second.execute_statement, Statement="SELECT * FROM Music")

    def test_shared_servers_show_one_set(self):
        self.serve("--shared")
        self.create(PLACES[0])
        self.client(PLACES[1]).put_item(
            TableName="Music", Item={"pk": {"S": "a"}, "place": {"S": "one"}})
        self.assertEqual([self.get(place) for place in PLACES], ["one"] * 3)
        described = self.client(PLACES[2]).describe_table(TableName="Music")["Table"]
        self.assertEqual(
            described["TableArn"], "arn:aws:dynamodb:eu-west-1:123456789012:table/Music")

    def test_a_shared_store_stays_one_set(self):
        self.serve("--shared")
        self.create(PLACES[0])
        self.served.stop()
        self.served.flags.remove("--shared")
        self.served.start()
        self.assertEqual(self.client(PLACES[1]).list_tables()["TableNames"], ["Music"])


if __name__ == "__main__":
    unittest.main()
