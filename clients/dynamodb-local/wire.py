"""Requests of DynamoDB as they go over the wire: one JSON object there, one back.

What it is not: an SDK. That would refuse many of the requests that are compared here, and hide what
is between the lines of an answer.
"""

import http.client
import json

# DynamoDB Local wants to see a signature and does not check it.
SIGNED = ("AWS4-HMAC-SHA256 Credential=local/20260101/eu-central-1/dynamodb/aws4_request, "
          "SignedHeaders=host;x-amz-target, Signature=0")

STREAMS = {"ListStreams", "DescribeStream", "GetShardIterator", "GetRecords"}

SECONDS_MAX = 60


class Server:
    """A connection to one server."""

    def __init__(self, address):
        self.address = address
        self.connection = None

    def ask(self, operation, body):
        """Returns the HTTP status and the parsed body."""
        service = "DynamoDBStreams_20120810" if operation in STREAMS else "DynamoDB_20120810"
        headers = {"Content-Type": "application/x-amz-json-1.0", "Authorization": SIGNED,
                   "X-Amz-Target": f"{service}.{operation}"}
        text = json.dumps(body)
        for attempt in (1, 2):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(self.address, timeout=SECONDS_MAX)
                self.connection.request("POST", "/", text, headers)
                answer = self.connection.getresponse()
                return answer.status, parsed(answer.read())
            except (http.client.HTTPException, ConnectionError):
                # Either side may close a connection that rests.
                self.connection = None
                if attempt == 2:
                    raise


def parsed(text):
    """Returns the JSON of an answer, or its text where it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text.decode(errors="replace")}
