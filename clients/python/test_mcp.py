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

PUT = {"operation": "PutItem", "request": {"TableName": "Loans", "Item": {"pk": {"S": "b"}}}}


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

    def served(self, *flags):
        """A server with one row in its table Loans."""
        served = Served(*flags)
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
        return served, client

    async def looked_at(self, session):
        """Reads what the server of this session shows; a write is refused."""
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
        refused = await session.call_tool("dynamodb", PUT)
        self.assertIn("--allow-writes", str(refused))

    def test_a_store_is_read_and_not_written(self):
        served, _ = self.served()
        # A store is open in one process.
        served.stop()
        in_session(["--data", str(served.folder / "store")], self.looked_at)

    def test_a_running_server_is_asked_beside_its_clients(self):
        served, client = self.served("--console", "127.0.0.1:0")
        of_server = ["--server", served.addresses["console"]]
        in_session(of_server, self.looked_at)
        key = PUT["request"]["Item"]
        self.assertNotIn("Item", client.get_item(TableName="Loans", Key=key))

        async def written(session):
            answered(await session.call_tool("dynamodb", PUT))

        in_session([*of_server, "--allow-writes"], written)
        self.assertEqual(client.get_item(TableName="Loans", Key=key)["Item"], key)


if __name__ == "__main__":
    unittest.main()
