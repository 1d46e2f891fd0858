"""The publication index in three key designs, through unmodified boto3.

Start a server first (`shelfmark serve`), then, with boto3 installed:

    python examples/publication_index.py

It makes its tables anew, so it asks the server on this machine unless AWS_ENDPOINT_URL_DYNAMODB
names another one; it never falls back to the real service.

A publication has metadata, titles and tags; a title carries tags. Four questions are asked of each
design, and the script says what each design can answer and at what price.
"""

import os
import sys
import uuid

import boto3
from boto3.dynamodb.conditions import Attr, Key

PUBLICATIONS = {
    "Better Programming": {
        "Designing effective databases": ["databases", "dynamodb"],
        "Sorting without regret": ["algorithms", "databases"],
    },
    "Night Shift": {"Designing effective databases": ["nosql"], "Coffee at four": ["habits"]},
}

LOCAL = "http://127.0.0.1:8000"

dynamodb = boto3.resource(
    "dynamodb",
    endpoint_url=os.environ.get("AWS_ENDPOINT_URL_DYNAMODB", LOCAL),
    region_name=os.environ.get("AWS_DEFAULT_REGION", "local"),
    aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", "local"),
    aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "local"),
)


def create(name, indexes=()):
    """Creates a table with text keys PK and SK, and indexes given as (name, partition key)."""
    for existing in dynamodb.tables.all():
        if existing.name == name:
            existing.delete()
            existing.wait_until_not_exists()
    names = ["PK", "SK"] + [partition for _, partition in indexes]
    definition = {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": "S"} for n in names],
        "KeySchema": [
            {"AttributeName": "PK", "KeyType": "HASH"},
            {"AttributeName": "SK", "KeyType": "RANGE"},
        ],
    }
    if indexes:
        definition["GlobalSecondaryIndexes"] = [
            {
                "IndexName": index,
                "KeySchema": [
                    {"AttributeName": partition, "KeyType": "HASH"},
                    {"AttributeName": "SK", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
            for index, partition in indexes
        ]
    table = dynamodb.create_table(**definition)
    table.wait_until_exists()
    return table


def show(question, answer):
    """Prints a question with what was read and what was returned for it."""
    read, returned = answer["ScannedCount"], answer["Count"]
    values = sorted(item["SK"] for item in answer["Items"])
    print(f"  {question}: {values}  (read {read}, returned {returned})")
    return values


def expect(found, wanted):
    """Stops the script when an answer is wrong."""
    if found != wanted:
        sys.exit(f"expected {wanted}, found {found}")


def publication_as_root():
    """The publication is the partition; its parts are told apart by the sort key's beginning."""
    print("1. The publication is the partition key")
    table = create("publications_root")
    with table.batch_writer() as batch:
        for name, titles in PUBLICATIONS.items():
            key = f"PublicationName#{name}"
            batch.put_item(Item={"PK": key, "SK": "Metadata#1", "followers": 5})
            for title in titles:
                batch.put_item(Item={"PK": key, "SK": f"Title#{title}"})
            for tag in sorted({tag for tags in titles.values() for tag in tags}):
                batch.put_item(Item={"PK": key, "SK": f"Tag#{tag}"})
    key = "PublicationName#Better Programming"
    item = table.get_item(Key={"PK": key, "SK": "Metadata#1"})["Item"]
    print(f"  metadata: {item['followers']} followers")
    for kind, wanted in (("Title", 2), ("Tag", 3)):
        answer = table.query(
            KeyConditionExpression=Key("PK").eq(key) & Key("SK").begins_with(f"{kind}#")
        )
        expect(len(show(f"all of kind {kind}", answer)), wanted)
    print("  the tags of one title: no key holds them; the tag is one item for all its titles")


def composite_sort_key():
    """The hierarchy is in the sort key; tags are attributes, found by filtering."""
    print("2. The hierarchy is in the sort key")
    table = create("publications_hierarchical")
    shelf = str(uuid.uuid4())
    with table.batch_writer() as batch:
        for name, titles in PUBLICATIONS.items():
            prefix = f"PublicationName#{name}"
            batch.put_item(Item={"PK": shelf, "SK": f"{prefix}#Metadata#1", "followers": 5})
            for title, tags in titles.items():
                batch.put_item(Item={"PK": shelf, "SK": f"{prefix}#Title#{title}", "tags": tags})
    prefix = "PublicationName#Better Programming"
    for part in ("Metadata", "Title#"):
        show(
            f"everything below {part}",
            table.query(
                KeyConditionExpression=Key("PK").eq(shelf)
                & Key("SK").begins_with(f"{prefix}#{part}")
            ),
        )
    answer = table.query(
        KeyConditionExpression=Key("PK").eq(shelf) & Key("SK").begins_with(f"{prefix}#Title#"),
        FilterExpression=Attr("tags").contains("dynamodb"),
    )
    expect(show("titles with a tag, by filter", answer), [f"{prefix}#Title#Designing effective databases"])
    expect(answer["ScannedCount"] > answer["Count"], True)


def global_index():
    """Each tag of a title is an item of its own, which an index lists under the title."""
    print("3. An index lists tags by their title")
    table = create("publications_gsi", indexes=[("by_title", "GSIPK")])
    with table.batch_writer() as batch:
        for name, titles in PUBLICATIONS.items():
            key = f"PublicationName#{name}"
            batch.put_item(Item={"PK": key, "SK": "Metadata#1", "followers": 5})
            for title, tags in titles.items():
                batch.put_item(Item={"PK": key, "SK": f"Title#{title}"})
                for tag in tags:
                    batch.put_item(
                        Item={"PK": key, "SK": f"Tag#{tag}#{title}", "GSIPK": f"{name}#{title}"}
                    )
    title = "Designing effective databases"
    answer = table.query(
        IndexName="by_title",
        KeyConditionExpression=Key("GSIPK").eq(f"Better Programming#{title}"),
    )
    expect(show("tags of a title", answer), [f"Tag#databases#{title}", f"Tag#dynamodb#{title}"])
    expect(answer["ScannedCount"], answer["Count"])


if __name__ == "__main__":
    publication_as_root()
    composite_sort_key()
    global_index()
    print("All answers are as expected.")
