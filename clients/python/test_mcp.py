"""A client of the Model Context Protocol, as its official SDK for Python speaks it, beside a store.

Starts commands of its own; SHELFMARK names the command.
"""

import asyncio
import os
import pathlib
import sys
import unittest

import boto3
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

sys.path.append(str(pathlib.Path(__file__).parent / "cql"))
from served import Served  # noqa: E402

MODEL = """
entity Reader { key id: uuid }
entity Loan { key id: ulid  reader: Reader immutable  title: text(max 80)  fanout reader max 500 }
read of_reader(r, n) = Loan where reader = r order by id desc limit n
write lend(i, r, t) = insert Loan(id i, reader r, title t)
"""


def answered(result):
    """What a tool answered; an error of a tool is a failure here."""
    if getattr(result, "is_error", None) or getattr(result, "isError", None):
        raise AssertionError(result)
    content = getattr(result, "structured_content", None)
    return content if content is not None else result.structuredContent


def in_session(arguments, work):
    """Runs `work(session)` against a server that is started with these arguments."""

    async def session():
        parameters = StdioServerParameters(
            command=os.environ["SHELFMARK"], args=["mcp", *arguments]
        )
        async with stdio_client(parameters) as (reads, writes):
            async with ClientSession(reads, writes) as client:
                await client.initialize()
                return await work(client)

    return asyncio.run(session())


@unittest.skipUnless("SHELFMARK" in os.environ, "SHELFMARK names no command")
class Mcp(unittest.TestCase):
    def test_a_model_is_planned_and_proven(self):
        async def work(client):
            names = [tool.name for tool in (await client.list_tools()).tools]
            self.assertIn("prove", names)
            self.assertNotIn("tables", names)
            arguments = {"model": MODEL, "target": "cql"}
            plan = answered(await client.call_tool("plan", arguments))
            self.assertEqual(plan["proof"]["refused"], 0, plan)
            model = MODEL + plan["schema"]
            calls = answered(await client.call_tool("calls", {"model": model}))
            self.assertIn("CREATE TABLE", str(calls["create"]))

        in_session([], work)

    def test_a_store_is_read_and_not_written(self):
        served = Served()
        self.addCleanup(served.close)
        client = boto3.client(
            "dynamodb", endpoint_url="http://" + served.addresses["dynamodb"]
        )
        client.create_table(
            TableName="Loans",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        )
        client.put_item(TableName="Loans", Item={"pk": {"S": "a"}, "n": {"N": "1"}})
        # A store is open in one process.
        served.stop()

        async def work(session):
            tables = answered(await session.call_tool("tables", {}))
            self.assertIn("Loans", str(tables))
            get = {"operation": "GetItem", "request": {"TableName": "Loans", "Key": {"pk": {"S": "a"}}}}
            got = answered(await session.call_tool("dynamodb", get))
            self.assertEqual(got["answer"]["Item"]["n"], {"N": "1"})
            self.assertIn("1 rows read", got["read"])
            rows = answered(
                await session.call_tool("cql", {"statement": 'SELECT pk FROM dynamodb."Loans"'})
            )
            self.assertEqual(rows["answer"], [{"pk": "a"}])
            put = {"operation": "PutItem", "request": {"TableName": "Loans", "Item": {"pk": {"S": "b"}}}}
            refused = await session.call_tool("dynamodb", put)
            self.assertIn("--allow-writes", str(refused))

        in_session(["--data", str(served.folder / "store")], work)


if __name__ == "__main__":
    unittest.main()
