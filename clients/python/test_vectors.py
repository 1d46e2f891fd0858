"""Vector search as programs use it, through boto3."""

import unittest
import uuid

import boto3
from botocore.exceptions import ClientError


class Vectors(unittest.TestCase):
    def setUp(self):
        self.client = boto3.client("dynamodb")
        self.table = f"books-{uuid.uuid4()}"
        self.client.create_table(
            TableName=self.table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[
                {"AttributeName": "id", "AttributeType": "S"},
                {"AttributeName": "shelf", "AttributeType": "S"},
            ],
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            VectorIndexes=[
                {
                    "IndexName": "near",
                    "VectorAttribute": {"AttributeName": "v"},
                    "SearchSchema": [
                        {"AttributeName": "shelf", "SearchSchemaElementType": "HASH"}
                    ],
                    "Dimensions": 2,
                    "DistanceFunction": "COSINE",
                    "Projection": {"ProjectionType": "KEYS_ONLY"},
                }
            ],
        )
        self.addCleanup(self.client.delete_table, TableName=self.table)

    def put(self, name, shelf, *vector):
        vector = {"L": [{"N": str(number)} for number in vector]}
        item = {"id": {"S": name}, "shelf": {"S": shelf}, "v": vector}
        self.client.put_item(TableName=self.table, Item=item)

    def test_the_nearest_come_first_and_of_one_shelf(self):
        for number in range(60):
            self.put(f"b{number}", "left" if number % 2 else "right", number, 10)
        found = self.client.search_vectors(
            TableName=self.table,
            IndexName="near",
            SearchVector=[{"N": "1"}, {"N": "10"}],
            TopK=3,
            SearchConditionExpression="shelf = :s",
            ExpressionAttributeValues={":s": {"S": "left"}},
            ReturnConsumedCapacity="TOTAL",
        )
        results = found["SearchResults"]
        self.assertEqual([one["Item"]["id"]["S"] for one in results], ["b1", "b3", "b5"])
        self.assertEqual(results[0]["Score"], 0)
        self.assertLess(results[1]["Score"], results[2]["Score"])
        self.assertGreater(found["ConsumedCapacity"]["VectorSearchRequestBytes"], 0)

    def test_a_vector_of_another_length_is_refused(self):
        with self.assertRaises(ClientError) as refused:
            self.put("short", "left", 1)
        self.assertEqual(refused.exception.response["Error"]["Code"], "ValidationException")


if __name__ == "__main__":
    unittest.main()
