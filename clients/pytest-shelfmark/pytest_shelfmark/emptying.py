"""Empties or drops all tables of a server: those of DynamoDB over HTTP, those of CQL by the command.

No client library is needed. Requests carry no signature, so a server that asks for logins refuses them.
"""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from typing import Any, Dict, Iterator, List

WRITES_MAX = 25
"""BatchWriteItem takes so many (Amazon DynamoDB API Reference, read 2026-11)."""
NOT_OURS = ("dynamodb", "system")
"""Keyspaces with these names belong to the server, as do those that begin with `system_`."""


class Refused(RuntimeError):
    """Says what the server answered."""


def empty(endpoint_url: str, binary: str, contact_point: str) -> None:
    """Removes the rows of all tables."""
    for table in tables(endpoint_url):
        empty_table(endpoint_url, table)
    rows = cql(binary, contact_point, "SELECT keyspace_name, table_name FROM system_schema.tables")
    own = [row for row in rows if is_own(row["keyspace_name"])]
    if own:
        truncated = (f"TRUNCATE {quoted(row['keyspace_name'])}.{quoted(row['table_name'])}" for row in own)
        cql(binary, contact_point, "; ".join(truncated))


def drop(endpoint_url: str, binary: str, contact_point: str) -> None:
    """Drops all tables and keyspaces."""
    for table in tables(endpoint_url):
        dynamodb(endpoint_url, "DeleteTable", {"TableName": table})
    rows = cql(binary, contact_point, "SELECT keyspace_name FROM system_schema.keyspaces")
    own = [row["keyspace_name"] for row in rows if is_own(row["keyspace_name"])]
    if own:
        cql(binary, contact_point, "; ".join(f"DROP KEYSPACE {quoted(name)}" for name in own))


def tables(endpoint_url: str) -> Iterator[str]:
    """Returns the names of DynamoDB's own tables, page by page."""
    request: Dict[str, Any] = {}
    while True:
        answer = dynamodb(endpoint_url, "ListTables", request)
        yield from answer["TableNames"]
        if "LastEvaluatedTableName" not in answer:
            return
        request = {"ExclusiveStartTableName": answer["LastEvaluatedTableName"]}


def empty_table(endpoint_url: str, table: str) -> None:
    """Deletes the items of one table, a page of keys at a time."""
    described = dynamodb(endpoint_url, "DescribeTable", {"TableName": table})["Table"]
    names = {f"#k{at}": part["AttributeName"] for at, part in enumerate(described["KeySchema"])}
    scan: Dict[str, Any] = {
        "TableName": table,
        "ProjectionExpression": ", ".join(names),
        "ExpressionAttributeNames": names,
        "ConsistentRead": True,
    }
    while True:
        page = dynamodb(endpoint_url, "Scan", scan)
        keys = page["Items"]
        for first in range(0, len(keys), WRITES_MAX):
            writes = [{"DeleteRequest": {"Key": key}} for key in keys[first : first + WRITES_MAX]]
            asked = {table: writes}
            while asked:
                asked = dynamodb(endpoint_url, "BatchWriteItem", {"RequestItems": asked}).get("UnprocessedItems", {})
        if "LastEvaluatedKey" not in page:
            return
        scan["ExclusiveStartKey"] = page["LastEvaluatedKey"]


def dynamodb(endpoint_url: str, operation: str, request: Dict[str, Any]) -> Dict[str, Any]:
    """Sends one request to the DynamoDB face and returns its answer."""
    call = urllib.request.Request(
        endpoint_url,
        data=json.dumps(request).encode(),
        headers={"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"},
    )
    # No proxy: the server is on this machine, whatever the environment says about others.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(call, timeout=60) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Refused(f"{operation} was refused: {error.read().decode(errors='replace')}") from None
    except OSError as error:
        raise Refused(f"{operation} was not answered ({error}): does the server still run?") from None


def cql(binary: str, contact_point: str, statements: str) -> List[Dict[str, Any]]:
    """Runs statements by `shelfmark cql` and returns their rows."""
    words = [binary, "cql", "--server", contact_point, "--json", "-f", "-"]
    done = subprocess.run(words, input=statements, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refused(f"`shelfmark cql` was refused: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def is_own(keyspace: str) -> bool:
    return keyspace not in NOT_OURS and not keyspace.startswith("system_")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
