"""Differences that somebody has looked at, each with the decision and its source.

The first entry that fits decides. Sources: *model* is the service model that botocore ships,
*guide* the Developer Guide and the API reference of DynamoDB, *observed* what public tests saw on
AWS, and *order* that AWS is changing texts and the order of its checks, so that clients can rely on
the type of an error alone. Where DynamoDB Local was right Shelfmark was mended: no entry says so.
"""

import re
from dataclasses import dataclass

OURS = "ours is the service's"
BOTH = "both are allowed"

# An update expression without SET and ADD, or their legacy form.
ONLY_REMOVES = r'"UpdateExpression": "(REMOVE|DELETE)((?!SET |ADD )[^"])*"|"Action": "DELETE"'


@dataclass
class Known:
    """A kind of difference: patterns of the operation, the place, our answer and the other."""

    name: str
    decision: str
    source: str
    operation: str = ""
    place: str = ""
    ours: str = ""
    theirs: str = ""
    request: str = ""

    def fits(self, found):
        pairs = [(self.operation, found.operation), (self.place, found.place),
                 (self.ours, found.ours), (self.theirs, found.theirs),
                 (self.request, found.request)]
        return all(re.search(pattern, text) for pattern, text in pairs)


ENTRIES = [
    Known("Local fails", OURS, "model: InternalFailure is no answer to a request that is wrong",
          theirs=r"^InternalFailure"),
    Known("members of a wrong JSON type are converted, or told later", OURS,
          "observed: SerializationException, before anything else is looked at",
          place="^error$", ours=r"^SerializationException"),
    Known("no such value of an enumeration", OURS, "model: the values are an enumeration",
          place="^error$", ours=r"Member must satisfy enum value set"),
    Known("lengths and ranges of members", OURS, "model: min and max of the member",
          place="^error$", ours=r"Member must (have|not be)", theirs=r"^ok"),
    Known("reasons of a cancelled transaction", OURS,
          "guide, CancellationReasons: a fault that depends on an item is the ValidationError of "
          "its part, in the order of the parts",
          operation="Transact", ours=r"^TransactionCanceledException",
          theirs=r"^(ValidationException|TransactionCanceledException: (?!Transaction cancelled))"),
    Known("a key's attribute with a path into it, in a part of a transaction", OURS,
          "observed: refused in every expression, as DynamoDB Local does for filters",
          operation="Transact", ours="Key attributes must be scalars"),
    Known("reasons of a cancelled transaction of statements", OURS,
          "guide, as for TransactWriteItems; DuplicateItem is a code of the model",
          operation="ExecuteTransaction", ours=r"^(TransactionCanceled|Validation)Exception",
          theirs=r"^(ValidationException|TransactionCanceledException)"),
    Known("which of several things that are wrong is told, and in which words", BOTH,
          "order",
          place="^error$", ours=r"^ValidationException", theirs=r"^ValidationException"),
    Known("what is wrong with an update is told before its condition is looked at", OURS,
          "observed: what the request alone shows comes first",
          operation="UpdateItem|PutItem|DeleteItem|ExecuteStatement", ours=r"^ValidationException",
          theirs=r"^ConditionalCheckFailedException"),
    Known("what is wrong with an update is told before its condition, in a transaction", OURS,
          "observed: what the request alone shows comes first",
          operation="Transact", ours=r"reasons \[.*ValidationError",
          theirs=r"reasons \[.*ConditionalCheckFailed"),
    Known("parameters within lists and maps of PartiQL", BOTH,
          "guide: a question mark stands for a value, and nothing says where it may not",
          operation="Execute", theirs="Unsupported data type: Parameter under key"),
    Known("filters of PartiQL on what an index does not hold", OURS,
          "guide: what Query refuses, the SELECT that becomes it refuses as well",
          operation="Execute", ours="does not project one or more filter attributes",
          theirs=r"^ok"),
    Known("a batch of statements that names an item twice", OURS,
          "guide: what is refused is not done; DynamoDB Local does a part of it",
          operation="BatchExecuteStatement", place=r"^table"),
    Known("an empty map in a stream's image", OURS,
          "guide: an image is the item; DynamoDB Local leaves the type of empty maps away",
          operation="GetRecords", ours=r"^\{\}$|^\[\]$", theirs="absent"),
    Known("a name of one or two letters", OURS,
          "model: TableName may be an ARN and has at least one letter; there is no such table",
          ours=r"^ResourceNotFoundException", theirs="Invalid table/index name"),
    Known("words for a missing table", OURS, "observed: Requested resource not found",
          ours=r"^ResourceNotFoundException", theirs=r"^ResourceNotFoundException"),
    Known("an update that only removes makes no item", OURS,
          "guide, UpdateItem: REMOVE and DELETE on an item that is not there do nothing; observed",
          operation="UpdateItem|TransactWriteItems",
          place=r"^table\.(Count|Item)$|^\.Attributes$|ConsumedCapacity", request=ONLY_REMOVES),
    Known("REMOVE of a path in an item that is not there", OURS,
          "observed: nothing happens, although the same path of an item without it is refused",
          operation="UpdateItem|TransactWriteItems", ours="^ok",
          theirs="document path provided in the update"),
    Known("an update gives a key of an index a wrong type", OURS,
          "guide: what an index's key is must have the type of its definition",
          operation="UpdateItem|TransactWriteItems|Execute", ours="Type mismatch for Index Key",
          theirs="^ok"),
    Known("an error of one statement of a batch, or of all of it", BOTH,
          "guide: each statement has its own error; of values that are none it says nothing",
          operation="BatchExecuteStatement", ours=r"^ok", theirs=r"^ValidationException"),
    Known("words of the errors in batches", BOTH, "order",
          operation="BatchExecuteStatement", place=r"Error\.Message$"),
    Known("the code of an INSERT whose item is there", OURS, "model: DuplicateItem",
          operation="BatchExecuteStatement", place=r"Error\.Code$", ours="DuplicateItem"),
    Known("a request token whose other request failed, or was about a table that is gone", OURS,
          "guide: within ten minutes another request with the same token is a mismatch",
          operation="TransactWriteItems", ours="^IdempotentParameterMismatchException"),
    Known("a request token that DynamoDB Local thinks it knows", OURS,
          "guide: what is acknowledged for the first time is done",
          operation="TransactWriteItems", place="^table", request='"ClientRequestToken"'),
    Known("capacity nobody asked for", OURS, "guide: shown where ReturnConsumedCapacity asks",
          operation="DeleteItem", place=r"^\.ConsumedCapacity$", ours="absent"),
    Known("capacity of PartiQL", OURS, "model: ExecuteStatement has ConsumedCapacity",
          operation="Execute", place=r"^\.ConsumedCapacity$", theirs="absent"),
    Known("capacity of indexes in a transaction", OURS,
          "observed: twice on the table alone, not on its indexes",
          operation="Transact", place=r"ConsumedCapacity"),
    Known("keys of a batch that are not there cost what the smallest read does", OURS,
          "guide: a read of an item that is not there consumes as one of a small item does",
          operation="BatchGetItem", place=r"ConsumedCapacity"),
    Known("a position among equal keys of an index", BOTH,
          "guide: items with equal keys of an index are in no order",
          operation="Query", place=r"^\.(Count|ScannedCount|Items)",
          request='"IndexName".*"ExclusiveStartKey"|"ExclusiveStartKey".*"IndexName"'),
    Known("capacity of an index that a write leaves as it is", OURS,
          "guide: an index takes part in a write only where what it holds changes",
          operation="BatchWriteItem", place=r"ConsumedCapacity"),
    Known("a read that finds nothing costs what the smallest does", OURS,
          "guide: a read of an item that is not there consumes as one of a small item does",
          operation="Query|Scan|Get", place=r"ConsumedCapacity.*CapacityUnits", theirs=r"^0\.0"),
]


def decision(found, texts=False):
    """Returns why a difference is none that has to be looked at, or None; with `texts` those of
    mere words, and of which fault is told, have to be."""
    for entry in ENTRIES:
        if entry.fits(found) and not (texts and entry.source == "order"):
            return f"{entry.name}: {entry.decision} ({entry.source})"
    return None
