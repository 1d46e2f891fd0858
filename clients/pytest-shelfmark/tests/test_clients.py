"""The fixtures with the real clients of both faces."""

import boto3
import pytest

MUSIC = {
    "TableName": "Music",
    "KeySchema": [
        {"AttributeName": "Artist", "KeyType": "HASH"},
        {"AttributeName": "SongTitle", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "Artist", "AttributeType": "S"},
        {"AttributeName": "SongTitle", "AttributeType": "S"},
    ],
    "BillingMode": "PAY_PER_REQUEST",
}
KEYSPACE = "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"


def test_boto3_reads_what_it_wrote(shelfmark_reset, shelfmark_dynamodb):
    table = shelfmark_dynamodb.create_table(**MUSIC)
    table.put_item(Item={"Artist": "Acme", "SongTitle": "Happy", "Year": 2026})
    assert table.get_item(Key={"Artist": "Acme", "SongTitle": "Happy"})["Item"]["Year"] == 2026


def test_a_driver_reads_what_it_wrote(shelfmark_reset, shelfmark_cql):
    shelfmark_cql.execute(KEYSPACE)
    shelfmark_cql.execute("CREATE TABLE shop.orders (customer text, at int, total int, PRIMARY KEY (customer, at))")
    shelfmark_cql.execute("INSERT INTO shop.orders (customer, at, total) VALUES ('ann', 1, 5)")
    assert shelfmark_cql.execute("SELECT total FROM shop.orders WHERE customer = 'ann'").one().total == 5


def test_emptying_leaves_the_tables_of_both_faces_and_no_row(shelfmark_reset, shelfmark_dynamodb, shelfmark_cql):
    table = shelfmark_dynamodb.create_table(**MUSIC)
    with table.batch_writer() as batch:
        for number in range(60):
            batch.put_item(Item={"Artist": f"a{number % 7}", "SongTitle": str(number)})
    shelfmark_cql.execute(KEYSPACE)
    shelfmark_cql.execute('CREATE TABLE shop."Mixed" (id text PRIMARY KEY, seen text)')
    shelfmark_cql.execute("CREATE TABLE shop.hits (page text PRIMARY KEY, count counter)")
    shelfmark_cql.execute("""INSERT INTO shop."Mixed" (id, seen) VALUES ('1', 'x')""")
    shelfmark_cql.execute("UPDATE shop.hits SET count = count + 1 WHERE page = '/'")
    assert table.scan()["Count"] == 60
    shelfmark_reset.empty()
    assert table.scan()["Count"] == 0
    assert list(shelfmark_cql.execute('SELECT * FROM shop."Mixed"')) == []
    assert list(shelfmark_cql.execute("SELECT * FROM shop.hits")) == []


@pytest.mark.parametrize("turn", [1, 2])
def test_each_test_begins_empty(shelfmark_empty, shelfmark_dynamodb, turn):
    names = [table.name for table in shelfmark_dynamodb.tables.all()]
    table = shelfmark_dynamodb.Table("Music") if "Music" in names else shelfmark_dynamodb.create_table(**MUSIC)
    assert table.scan()["Count"] == 0
    table.put_item(Item={"Artist": "Acme", "SongTitle": f"turn {turn}"})


def test_a_fresh_server_knows_nothing_of_the_others(shelfmark, shelfmark_fresh, shelfmark_dynamodb):
    assert shelfmark_fresh.endpoint_url != shelfmark.endpoint_url
    own = boto3.client("dynamodb", **shelfmark_fresh.boto3_arguments)
    own.create_table(**{**MUSIC, "TableName": "Alone"})
    assert own.list_tables()["TableNames"] == ["Alone"]
    assert "Alone" not in [table.name for table in shelfmark_dynamodb.tables.all()]


def test_code_that_makes_its_own_client_finds_the_server(shelfmark_environment):
    client = boto3.session.Session().client("dynamodb")
    assert client.meta.endpoint_url == shelfmark_environment.endpoint_url
    client.list_tables()
