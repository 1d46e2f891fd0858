"""Signatures of a real client: the right key, a wrong secret, an unknown key, none, and a clock that is wrong."""

import datetime
import unittest
from unittest import mock

import boto3
import botocore.auth
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError


def client(**arguments):
    return boto3.session.Session().client("dynamodb", **arguments)


class Signatures(unittest.TestCase):
    def refused(self, asked, code, text):
        with self.assertRaises(ClientError) as caught:
            asked.list_tables()
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], code)
        self.assertIn(text, error["Message"])
        self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 400)

    def test_the_right_key_is_let_in_whatever_its_region(self):
        for region in ("eu-central-1", "us-east-1", "nowhere"):
            self.assertIn("TableNames", client(region_name=region).list_tables())

    def test_a_wrong_secret_is_refused(self):
        asked = client(aws_access_key_id="local", aws_secret_access_key="wrong")
        self.refused(asked, "InvalidSignatureException", "does not match the signature you provided")

    def test_an_unknown_key_is_refused(self):
        asked = client(aws_access_key_id="nobody", aws_secret_access_key="local")
        self.refused(asked, "UnrecognizedClientException", "security token")

    def test_who_does_not_sign_is_refused(self):
        asked = client(config=Config(signature_version=UNSIGNED))
        self.refused(asked, "MissingAuthenticationTokenException", "missing Authentication Token")

    def test_a_clock_that_is_an_hour_off_is_refused(self):
        real = botocore.auth.get_current_datetime
        for hours, text in ((-1, "Signature expired"), (1, "Signature not yet current")):
            wrong = lambda *given, **named: real(*given, **named) + datetime.timedelta(hours=hours)
            with mock.patch.object(botocore.auth, "get_current_datetime", wrong):
                self.refused(client(), "InvalidSignatureException", text)

    def test_a_token_of_a_session_is_taken(self):
        asked = client(
            aws_access_key_id="local", aws_secret_access_key="local", aws_session_token="any"
        )
        self.assertIn("TableNames", asked.list_tables())


if __name__ == "__main__":
    unittest.main()
