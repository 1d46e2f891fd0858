"""Answers in the form in which they are compared: what may differ is left out or sorted.

Ids, dates, the endpoint's region in ARNs, the order of what has no order, and how a number is
written are not compared: DynamoDB Local gives back `1.50` within documents, the service `1.5`.
"""

import decimal
import json
import re

# Members that follow from the moment, or from the server.
DROPPED = {
    "CreateTable": {"CreationDateTime", "TableId", "LatestStreamArn", "LatestStreamLabel",
                      "LastUpdateToPayPerRequestDateTime", "TableSizeBytes", "IndexSizeBytes",
                      "WarmThroughput", "DeletionProtectionEnabled", "LastDecreaseDateTime",
                      "LastIncreaseDateTime", "TableStatus", "IndexStatus",
                      # Of tables that are paid by request: zeros, or nothing.
                      "ProvisionedThroughput", "BillingModeSummary"},
    "*": {"SizeEstimateRangeGB"},
}
DROPPED["DescribeTable"] = DROPPED["CreateTable"]
# Names of errors that the service's model does not have.
RENAMED = {"DuplicateItem": "DuplicateItemException"}
# Lists of which the order says nothing.
UNORDERED = {"AttributeDefinitions", "GlobalSecondaryIndexes", "LocalSecondaryIndexes",
             "NonKeyAttributes"}
REGION = re.compile(r"arn:aws:dynamodb:[^:]*:\d*:")
WIDE = decimal.Context(prec=60)
PREFIX = re.compile(r"^\d+ validation errors? detected: ")


def text(node):
    """Returns one text for a value, whatever the order of its members."""
    return json.dumps(node, sort_keys=True, ensure_ascii=False)


def number(written):
    """Returns the one text for a number."""
    try:
        value = decimal.Decimal(written)
    except decimal.InvalidOperation:
        return written
    return str(value.normalize(WIDE)) if value else "0"


def normal(node, dropped, member=None):
    if isinstance(node, dict):
        out = {own: normal(value, dropped, own)
               for own, value in node.items() if own not in dropped}
        if len(out) == 1:
            (kind, value), = out.items()
            if kind == "N" and isinstance(value, str):
                return {kind: number(value)}
            if kind == "NS" and isinstance(value, list):
                return {kind: sorted(number(each) for each in value)}
            if kind in ("SS", "BS") and isinstance(value, list):
                return {kind: sorted(value)}
        return out
    if isinstance(node, list):
        out = [normal(value, dropped) for value in node]
        return sorted(out, key=text) if member in UNORDERED else out
    if isinstance(node, str):
        return REGION.sub("arn:aws:dynamodb:REGION:ACCOUNT:", node)
    return node


def answer(operation, body, status, found):
    """Returns what is compared of an answer: a code and a text, or `ok` and the body."""
    if status != 200:
        code = str(found.get("__type", status)).rpartition("#")[2]
        # AWS changes its texts; the prefix is at other places in each version of them.
        message = PREFIX.sub("", found.get("message") or found.get("Message") or "")
        code = RENAMED.get(code, code)
        rest = {own: value for own, value in found.items()
                if own not in ("__type", "message", "Message")}
        for reason in rest.get("CancellationReasons", []):
            # Of DynamoDB Local's reasons some end with a full stop.
            if "Message" in reason:
                reason["Message"] = reason["Message"].rstrip(".")
        return code, message, normal(rest, set())
    dropped = DROPPED["*"] | DROPPED.get(operation, set())
    out = normal(found, dropped)
    order(operation, body, out)
    return "ok", "", out


def order(operation, body, out):
    """Sorts what has no order that a client could rely on."""
    if operation in ("Scan", "ExecuteStatement") or (operation == "Query" and "IndexName" in body):
        if isinstance(out.get("Items"), list):
            out["Items"].sort(key=text)
    if operation == "BatchGetItem":
        for items in out.get("Responses", {}).values():
            items.sort(key=text)


def first_difference(one, other, path=""):
    """Returns where two answers differ first, with both values there; None where they do not."""
    if type(one) is not type(other):
        return path, one, other
    if isinstance(one, dict):
        for own in sorted(one.keys() | other.keys()):
            if own not in one or own not in other:
                return f"{path}.{own}", one.get(own, "absent"), other.get(own, "absent")
            found = first_difference(one[own], other[own], f"{path}.{own}")
            if found:
                return found
        return None
    if isinstance(one, list):
        if len(one) != len(other):
            return f"{path}[]", one, other
        for place, (own, its) in enumerate(zip(one, other)):
            found = first_difference(own, its, f"{path}[{place}]")
            if found:
                return found
        return None
    return None if one == other else (path, one, other)
