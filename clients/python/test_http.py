"""Raw HTTP against a running server: what no SDK shows, and what their layers below rely on."""

import gzip
import json
import unittest
import urllib.error
import urllib.request
import uuid
import zlib

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

session = boto3.Session()
client = session.client("dynamodb")
URL = client.meta.endpoint_url + "/"


def send(method, body=None, **headers):
    """Sends a request as it is given, signed; returns status, headers and body as they came."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    signed = AWSRequest(method, URL, data=body, headers=headers)
    SigV4Auth(session.get_credentials(), "dynamodb", client.meta.region_name).add_auth(signed)
    request = urllib.request.Request(URL, data=body, headers=dict(signed.headers), method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def call(operation, body, **headers):
    """Sends the bytes of an operation's body."""
    target = f"DynamoDB_20120810.{operation}"
    headers.setdefault("Content_Type", "application/x-amz-json-1.0")
    return send("POST", body, X_Amz_Target=target, **headers)


class Http(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = f"test-{uuid.uuid4()}"
        client.create_table(
            TableName=cls.table,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        client.put_item(TableName=cls.table, Item={"pk": {"S": "long"}, "x": {"S": "x" * 5000}})

    @classmethod
    def tearDownClass(cls):
        client.delete_table(TableName=cls.table)

    def put(self, key):
        return json.dumps({"TableName": self.table, "Item": {"pk": {"S": key}}}).encode()

    def is_there(self, key):
        return "Item" in client.get_item(TableName=self.table, Key={"pk": {"S": key}})

    def test_packed_requests(self):
        packed = gzip.compress(self.put("packed"))
        self.assertEqual(call("PutItem", packed, Content_Encoding="gzip")[0], 200)
        self.assertTrue(self.is_there("packed"))
        body = self.put("two")
        packed = gzip.compress(body[:10]) + gzip.compress(body[10:])
        self.assertEqual(call("PutItem", packed, Content_Encoding="gzip")[0], 200)
        self.assertTrue(self.is_there("two"))

    def test_damaged_requests_do_nothing(self):
        body = self.put("damaged")
        packed = gzip.compress(body)
        for coding, sent in [
            ("garbage", body),
            ("gzip", body),
            ("gzip", b""),
            ("gzip", packed[:-1]),
            ("gzip", packed + b"junk"),
        ]:
            with self.subTest(coding=coding, sent=sent[:20]):
                self.assertEqual(call("PutItem", sent, Content_Encoding=coding)[0], 500)
        self.assertFalse(self.is_there("damaged"))

    def test_packed_answers(self):
        body = json.dumps({"TableName": self.table, "Key": {"pk": {"S": "long"}}}).encode()
        unpack = {None: bytes, "gzip": gzip.decompress, "deflate": zlib.decompress}
        for accepted, coding in [
            ("identity", None),
            ("gzip", "gzip"),
            ("deflate", "deflate"),
            ("deflate;q=0.5, gzip;q=0.2", "deflate"),
            ("gzip;q=0", None),
            ("*", "gzip"),
        ]:
            with self.subTest(accepted=accepted):
                status, headers, packed = call("GetItem", body, Accept_Encoding=accepted)
                self.assertEqual((status, headers.get("Content-Encoding")), (200, coding))
                self.assertEqual(int(headers["x-amz-crc32"]), zlib.crc32(packed))
                self.assertIn("Item", json.loads(unpack[coding](packed)))

    def test_short_answers_are_not_packed(self):
        body = json.dumps({"TableName": self.table, "Key": {"pk": {"S": "none"}}}).encode()
        _, headers, answer = call("GetItem", body, Accept_Encoding="gzip")
        self.assertIsNone(headers.get("Content-Encoding"))
        self.assertEqual(answer, b"{}")

    def test_pages_of_other_origins(self):
        origin = {"Origin": "http://example.com/"}
        asked = {"Access_Control_Request_Method": "dog", "Access_Control_Request_Headers": "a, b"}
        for method in ["OPTIONS", "GET", "POST"]:
            with self.subTest(method=method):
                _, headers, _ = send(method, b"" if method == "POST" else None, **asked)
                self.assertEqual([h for h in headers if h.lower().startswith("access-")], [])
                body = b"" if method == "POST" else None
                _, headers, _ = send(method, body, **origin, **asked)
                self.assertEqual(headers["Access-Control-Allow-Origin"], origin["Origin"])
                self.assertIn("Access-Control-Expose-Headers", headers)
                before = method == "OPTIONS"
                for name, value in [
                    ("Access-Control-Allow-Methods", "dog"),
                    ("Access-Control-Allow-Headers", "a, b"),
                    ("Access-Control-Max-Age", "172800"),
                ]:
                    self.assertEqual(headers.get(name), value if before else None)

    def test_pages_that_are_not_allowed(self):
        for method in ["OPTIONS", "GET", "POST"]:
            with self.subTest(method=method):
                body = b"" if method == "POST" else None
                status, headers, _ = send(method, body, Origin="http://example.org")
                self.assertEqual(status, 403)
                self.assertIsNone(headers.get("Access-Control-Allow-Origin"))

    def test_bodies_that_are_no_request(self):
        for body in [b"", b"hi", b"[]", b'{"TableName": 1}', b'{"TableName": "x"', b"7"]:
            with self.subTest(body=body):
                status, headers, answer = call("PutItem", body)
                self.assertEqual(status, 400)
                self.assertIn("SerializationException", json.loads(answer)["__type"])
                self.assertEqual(len(headers["x-amzn-RequestId"]), 52)
        status, _, _ = call("PutItem", self.put("text"), Content_Type="text/plain")
        self.assertEqual(status, 404)
        status, _, answer = send("POST", b"{}", Content_Type="application/x-amz-json-1.0")
        self.assertEqual(status, 400)
        self.assertIn("UnknownOperationException", json.loads(answer)["__type"])

    def test_changes_of_tags_have_no_body(self):
        arn = client.describe_table(TableName=self.table)["Table"]["TableArn"]
        tag = json.dumps({"ResourceArn": arn, "Tags": [{"Key": "k", "Value": "v"}]}).encode()
        self.assertEqual(call("TagResource", tag)[::2], (200, b""))
        untag = json.dumps({"ResourceArn": arn, "TagKeys": ["k"]}).encode()
        self.assertEqual(call("UntagResource", untag)[::2], (200, b""))


if __name__ == "__main__":
    unittest.main()
