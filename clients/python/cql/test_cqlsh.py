"""cqlsh as people use it: DESCRIBE, values of every type, COPY, paging, tracing, settings, a terminal.

What is expected here is what cqlsh prints beside Apache Cassandra 5.0.
"""

import json
import os
import pathlib
import tempfile
import unittest
import urllib.request
import uuid

import shell
from served import Served

ADDRESS = os.environ["SHELFMARK_CQL"]

EVERY = """k int PRIMARY KEY, a ascii, b bigint, bl blob, bo boolean, d date, de decimal, dou double,
du duration, f float, i inet, si smallint, t text, ti time, ts timestamp, tu timeuuid, tin tinyint,
u uuid, v varint, l list<int>, s set<text>, m map<text, int>, ft frozen<tuple<int, text>>,
ad frozen<address>, vec vector<float, 3>, n map<int, frozen<list<text>>>"""

VALUES = """INSERT INTO every (k, a, b, bl, bo, d, de, dou, du, f, i, si, t, ti, ts, tu, tin, u, v, l,
s, m, ft, ad, vec, n) VALUES (1, 'abc', -5, 0x00ff, true, '2026-11-21', 1.50, 1.25, 1h30m, 0.5,
'127.0.0.1', -3, 'ä€𝄞', '01:02:03.004005006', '2026-01-02T03:04:05.678Z',
50554d6e-29bb-11e5-b345-feff819cdc9f, 1, 550e8400-e29b-41d4-a716-446655440000,
1180591620717411303424, [3,1], {'b','a'}, {'x':1}, (7,'t'),
{street: 'S', phones: {'m': {country: 49, number: '1'}}}, [1, 2.5, 3], {1: ['a', 'b''c']});"""

# As EXPAND prints them.
SHOWN = """\
 k   | 1
 a   | abc
 ad  | {street: 'S', phones: {'m': {country: 49, number: '1'}}}
 b   | -5
 bl  | 0x00ff
 bo  | True
 d   | 2026-11-21
 de  | 1.50
 dou | 1.25
 du  | 1h30m
 f   | 0.5
 ft  | (7, 't')
 i   | 127.0.0.1
 l   | [3, 1]
 m   | {'x': 1}
 n   | {1: ['a', 'b''c']}
 s   | {'a', 'b'}
 si  | -3
 t   | ä€𝄞
 ti  | 01:02:03.004005006
 tin | 1
 ts  | 2026-01-02 03:04:05.678000+0000
 tu  | 50554d6e-29bb-11e5-b345-feff819cdc9f
 u   | 550e8400-e29b-41d4-a716-446655440000
 v   | 1180591620717411303424
 vec | [1, 2.5, 3]"""


class Bed(unittest.TestCase):
    """What the cases below share; has none itself."""

    @classmethod
    def setUpClass(cls):
        cls.keyspace = f"sh_{uuid.uuid4().hex[:12]}"
        cls.cqlsh(
            f"CREATE KEYSPACE {cls.keyspace} WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1};", at=None)

    @classmethod
    def cqlsh(cls, script, *more, at="", right=True):
        """Runs a script in the keyspace of these cases."""
        within = () if at is None else ("-k", at or cls.keyspace)
        return shell.run(ADDRESS, script, *within, *more, right=right)


class Shown(Bed):
    def test_values_of_every_type(self):
        out = self.cqlsh(f"""
            CREATE TYPE phone (country int, number text);
            CREATE TYPE address (street text, phones frozen<map<text, frozen<phone>>>);
            CREATE TABLE every ({EVERY});
            {VALUES}
            INSERT INTO every (k, t, dou, f, de) VALUES
                (3, 'tab\t, line\nand \\ and "q"', NaN, Infinity, 1e-20);
            SELECT k, t, dou, f, de FROM every;
            SELECT JSON k, bl, l, ad FROM every WHERE k = 1;
            EXPAND ON
            SELECT * FROM every WHERE k = 1;""")
        self.assertIn(SHOWN, out)
        self.assertIn(
            ' 3 | tab\\t, line\\nand \\\\ and "q" |  NaN | Infinity | 1E-20', out)
        self.assertIn(
            '{"k": 1, "bl": "0x00ff", "l": [3, 1], "ad": {"street": "S", "phones": '
            '{"m": {"country": 49, "number": "1"}}}}', out)

    def test_tables_conditions_and_no_rows(self):
        out = self.cqlsh("""
            CREATE TABLE wide (p text, c int, s text static, v text, PRIMARY KEY (p, c));
            INSERT INTO wide (p, c, s, v) VALUES ('a', 1, 's', 'v1');
            INSERT INTO wide (p, c) VALUES ('a', 2);
            SELECT * FROM wide;
            UPDATE wide SET v = 'x' WHERE p = 'a' AND c = 1 IF v = 'none';
            UPDATE wide SET v = 'x' WHERE p = 'a' AND c = 1 IF EXISTS;
            BEGIN BATCH
              INSERT INTO wide (p, c) VALUES ('b', 1);
              INSERT INTO wide (p, c) VALUES ('b', 2);
            APPLY BATCH;
            SELECT count(*) FROM wide;
            TRUNCATE wide;
            SELECT c AS first, CAST(c AS text) FROM wide;""")
        lines = [line.rstrip() for line in out.splitlines()]
        self.assertEqual([line for line in lines if line], """
 p | c | s | v
---+---+---+------
 a | 1 | s |   v1
 a | 2 | s | null
(2 rows)
 [applied] | v
-----------+----
     False | v1
 [applied]
-----------
      True
 count
-------
     4
(1 rows)
Warnings :
Aggregation query used without partition key
 first | cast(c as text)
-------+-----------------
(0 rows)""".splitlines()[1:])

    def test_errors_say_where_and_what(self):
        out = self.cqlsh("""CREATE TABLE e (k int, c int, v int, PRIMARY KEY (k, c));
SELECT * FROM nothing;
SELEKT 1;
SELECT * FROM e WHERE v = 1;
INSERT INTO e (k) VALUES (1);
INSERT INTO e (k, c) VALUES ('x', 1);
CREATE TABLE e (k int PRIMARY KEY);
USE nothing;
DESCRIBE TABLE nothing;
SELECT k FROM e;
""", right=False)
        # cqlsh counts the choice of the keyspace as a line.
        for expected in (
            'script:3:InvalidRequest: Error from server: code=2200 [Invalid query] '
            'message="table nothing does not exist"',
            "script:4:SyntaxException: line 1:0 no viable alternative at input 'SELEKT' ([SELEKT]...)",
            'script:5:InvalidRequest: Error from server: code=2200 [Invalid query] message="Cannot '
            'execute this query as it might involve data filtering and thus may have unpredictable '
            'performance. If you want to execute this query despite the performance '
            'unpredictability, use ALLOW FILTERING"',
            'message="Some clustering keys are missing: c"',
            "script:7:InvalidRequest: Error from server: code=2200 [Invalid query] "
            "message=\"Invalid STRING constant (x) for \"k\" of type int\"",
            f"script:8:AlreadyExists: Table '{self.keyspace}.e' already exists",
            "message=\"Keyspace 'nothing' does not exist\"",
            f"'nothing' not found in keyspace '{self.keyspace}'",
            "(0 rows)",
        ):
            self.assertIn(expected, out)

    def test_settings(self):
        out = self.cqlsh("""SHOW VERSION
SHOW HOST
CONSISTENCY
CONSISTENCY QUORUM
CONSISTENCY
SERIAL CONSISTENCY
SERIAL CONSISTENCY LOCAL_SERIAL
PAGING
PAGING 3
PAGING OFF
EXPAND
TRACING
""")
        for expected in (
            "[cqlsh 6.2.2 | Cassandra 5.0.", "| CQL spec 3.4.7 | Native protocol v5]",
            f"at {ADDRESS}\n", "Current consistency level is ONE.\n",
            "Consistency level set to QUORUM.\nCurrent consistency level is QUORUM.\n"
            "Current serial consistency level is SERIAL.\n"
            "Serial consistency level set to LOCAL_SERIAL.\n"
            "PAGING is ON\nPage size: 100\nPage size: 3\nPAGING set to OFF\n"
            "EXPAND is OFF\nTRACING is OFF\n",
        ):
            self.assertIn(expected, out)

    def test_traces(self):
        out = self.cqlsh("""CREATE TABLE traced (k int PRIMARY KEY);
            TRACING ON
            INSERT INTO traced (k) VALUES (1);
            SELECT * FROM traced;""")
        self.assertEqual(out.count("Tracing session: "), 2)
        self.assertEqual(out.count("Execute CQL3 query"), 2)
        self.assertEqual(out.count("Request complete"), 2)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            source, target = pathlib.Path(folder) / "in.cql", pathlib.Path(folder) / "out.txt"
            source.write_text("CREATE TABLE sourced (k int PRIMARY KEY, v text);\n"
                              "INSERT INTO sourced (k, v) VALUES (1, 'of a file'); -- here\n"
                              "/* and\n * this */ SELECT * FROM sourced; // and there\n")
            out = self.cqlsh(f"SOURCE '{source}'\nCAPTURE '{target}'\n"
                             "SELECT v AS captured FROM sourced;")
            self.assertIn(" k | v\n---+-----------\n 1 | of a file\n", out)
            self.assertIn(" captured\n-----------\n of a file\n", target.read_text())
            self.assertNotIn(" captured\n", out)


class Described(Bed):
    def test_everything_that_there_is(self):
        out = self.cqlsh("""
            CREATE TYPE phone (country int, number text);
            CREATE TABLE wide (p text, c int, s text static, v text, h frozen<phone>,
                "Case" set<int>, PRIMARY KEY (p, c))
                WITH CLUSTERING ORDER BY (c DESC) AND comment = 'it''s' AND gc_grace_seconds = 5;
            CREATE INDEX by_v ON wide (v);
            CREATE INDEX by_case ON wide ("Case");
            CREATE MATERIALIZED VIEW seen AS SELECT p, c, v FROM wide WHERE v IS NOT NULL
                AND p IS NOT NULL AND c IS NOT NULL PRIMARY KEY (v, p, c)
                WITH CLUSTERING ORDER BY (p ASC, c ASC);
            DESCRIBE TABLES
            DESCRIBE TYPES
            DESCRIBE TYPE phone
            DESCRIBE INDEX by_v
            DESCRIBE MATERIALIZED VIEW seen
            DESC wide
            DESCRIBE FUNCTIONS
            DESCRIBE AGGREGATES
            DESCRIBE CLUSTER
            DESCRIBE KEYSPACES
            """, right=False)
        here = self.keyspace
        for expected in (
            "\nwide\n", "\nphone\n",
            f"CREATE TYPE {here}.phone (\n    country int,\n    number text\n);",
            f"CREATE INDEX by_v ON {here}.wide (v);",
            f"CREATE MATERIALIZED VIEW {here}.seen AS\n    SELECT v, p, c\n    FROM {here}.wide\n"
            "    WHERE v IS NOT NULL AND p IS NOT NULL AND c IS NOT NULL\n"
            "    PRIMARY KEY (v, p, c)\n WITH CLUSTERING ORDER BY (p ASC, c ASC)\n",
            f"CREATE TABLE {here}.wide (\n    p text,\n    c int,\n    s text static,\n"
            "    h frozen<phone>,\n    v text,\n    \"Case\" set<int>,\n"
            "    PRIMARY KEY (p, c)\n) WITH CLUSTERING ORDER BY (c DESC)\n    AND additional_write",
            "AND comment = 'it''s'\n", "AND gc_grace_seconds = 5\n",
            f"CREATE INDEX by_case ON {here}.wide (values(\"Case\"));",
            "Murmur3Partitioner\n", "system_schema",
        ):
            self.assertIn(expected, out)

    def test_what_is_described_can_be_made_again(self):
        self.cqlsh("CREATE TYPE t (x int); CREATE TYPE u (t frozen<t>);"
                   "CREATE TABLE a (k int, c int, s int static, u u, m map<text, frozen<u>>, "
                   "PRIMARY KEY (k, c)) WITH CLUSTERING ORDER BY (c DESC);"
                   "CREATE TABLE n (k text PRIMARY KEY, n counter);"
                   "CREATE INDEX i ON a (keys(m));"
                   "CREATE MATERIALIZED VIEW v AS SELECT * FROM a WHERE c IS NOT NULL "
                   "AND k IS NOT NULL PRIMARY KEY (c, k);"
                   "ALTER TABLE n WITH caching = {'keys': 'NONE', 'rows_per_partition': '7'};",
                   right=False)
        first = self.cqlsh(f"DESCRIBE KEYSPACE {self.keyspace}\n")
        copy = f"{self.keyspace}_copy"
        self.cqlsh(first.replace(self.keyspace, copy), at=None, right=False)
        again = self.cqlsh(f"DESCRIBE KEYSPACE {copy}\n", at=None)
        self.assertEqual(again.replace(copy, self.keyspace), first)

    def test_system_tables_and_the_whole_schema(self):
        out = self.cqlsh("DESCRIBE TABLE system.local\nDESCRIBE SCHEMA\n")
        self.assertIn("CREATE TABLE system.local (\n    key text PRIMARY KEY,", out)
        self.assertIn(f"CREATE KEYSPACE {self.keyspace} WITH replication = "
                      "{'class': 'SimpleStrategy', 'replication_factor': '1'}  "
                      "AND durable_writes = true;", out)


class Copied(Bed):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_there_and_back(self):
        source, target = self.folder / "in.csv", self.folder / "out.csv"
        source.write_text("".join(f"{n % 10},{n:04},v{n}\n" for n in range(500)))
        out = self.cqlsh("CREATE TABLE plain (k int, c text, v text, PRIMARY KEY (k, c));"
                         f"COPY plain (k, c, v) FROM '{source}';"
                         f"COPY plain (k, c, v) TO '{target}';")
        self.assertIn("500 rows imported from 1 files", out)
        self.assertIn("500 rows exported to 1 files", out)
        self.assertEqual(sorted(source.read_text().splitlines()),
                         sorted(target.read_text().splitlines()))

    def test_values_of_every_type(self):
        # cqlsh can neither read durations nor fields of user types that it wrote.
        columns = EVERY.replace("du duration,", "").replace("ad frozen<address>,", "")
        values = (VALUES.replace(" du,", "").replace(" 1h30m,", "").replace(" ad,", "")
                  .replace("{street: 'S', phones: {'m': {country: 49, number: '1'}}},", ""))
        target = self.folder / "every.csv"
        out = self.cqlsh(f"""
            CREATE TABLE every ({columns});
            CREATE TABLE again ({columns});
            {values}
            INSERT INTO every (k, t) VALUES (2, 'two, "quoted" and it''s');
            INSERT INTO every (k) VALUES (3);
            COPY every TO '{target}' WITH HEADER = true;
            COPY again FROM '{target}' WITH HEADER = true;
            SELECT JSON * FROM every;
            SELECT JSON * FROM again;""")
        rows = [line.strip() for line in out.splitlines() if line.strip().startswith('{"k"')]
        self.assertEqual(len(rows), 6)
        self.assertEqual(rows[:3], rows[3:])

    def test_options(self):
        source, wrong = self.folder / "in.csv", self.folder / "wrong.csv"
        errors, some = self.folder / "errors.csv", self.folder / "some.csv"
        source.write_text("k|c|v\n" + "".join(f"{n % 5}|{n}|'v|{n}'\n" for n in range(1, 101))
                          + "9|9|none\n")
        wrong.write_text("9,1,good\n9,x,bad\n9,2,good\n9\n")
        out = self.cqlsh(f"""
            CREATE TABLE wide (k int, c int, v text, PRIMARY KEY (k, c));
            COPY wide (k, c, v) FROM '{source}' WITH HEADER = true AND DELIMITER = '|'
                AND QUOTE = '''' AND NULL = 'none' AND CHUNKSIZE = 7 AND TTL = 1000
                AND PREPAREDSTATEMENTS = false AND NUMPROCESSES = 2;
            SELECT v, ttl(v) AS lives FROM wide WHERE k = 3 LIMIT 1;
            SELECT k, v AS none FROM wide WHERE k = 9;
            COPY wide FROM '{wrong}' WITH ERRFILE = '{errors}' AND MAXPARSEERRORS = 10;
            COPY wide (k, c) TO '{some}' WITH BEGINTOKEN = '1' AND PAGESIZE = 3
                AND MAXOUTPUTSIZE = 10;
            SELECT token(k) AS beyond, c FROM wide WHERE token(k) > 1;
            CREATE TABLE said (k int PRIMARY KEY, yes boolean, at timestamp);
            INSERT INTO said (k, yes, at) VALUES (1, true, '2026-01-02 03:04:05+0000');
            INSERT INTO said (k) VALUES (2);
            COPY said TO STDOUT WITH BOOLSTYLE = 'ja,nein' AND DATETIMEFORMAT = '%Y/%m/%d'
                AND NULL = '<none>' AND DELIMITER = ';';""".replace("\n                ", " "),
            right=False)
        self.assertIn("101 rows imported from 1 files", out)
        self.assertRegex(out, r" v   \| lives\n-----\+-------\n v\|3 \| +(9\d\d|1000)\n")
        self.assertIn(" 9 | null\n", out)
        self.assertIn("2 rows imported from 1 files", out)
        self.assertEqual(errors.read_text().splitlines(), ["9,x,bad", "9"])
        parts = list(self.folder.glob("some.csv*"))
        self.assertGreater(len(parts), 1)
        copied = [line for part in parts for line in part.read_text().splitlines()]
        self.assertLessEqual(max(len(part.read_text().splitlines()) for part in parts), 10)
        selected = [line for line in out.splitlines() if line.count("|") == 1
                    and line.split("|")[0].strip().isdigit() and len(line.split("|")[0]) > 15]
        self.assertEqual(len(copied), len(selected))
        self.assertIn("1;2026/01/02;ja", out)
        self.assertIn("2;<none>;<none>", out)

    def test_counters(self):
        source = self.folder / "counts.csv"
        source.write_text("a,1\nb,2\na,3\n")
        out = self.cqlsh("CREATE TABLE counts (k text PRIMARY KEY, n counter);"
                         f"COPY counts FROM '{source}';\nCOPY counts TO STDOUT;")
        self.assertEqual(sorted(line for line in out.splitlines() if line[1:2] == ","),
                         ["a,4", "b,2"])


class AtATerminal(Bed):
    def test_completion_pages_and_ways_out(self):
        self.cqlsh("CREATE TABLE followers (user_id int, name text, PRIMARY KEY (user_id, name));"
                   + "".join(f"INSERT INTO followers (user_id, name) VALUES (1, 'n{n:03}');"
                             for n in range(7)))
        terminal = shell.Terminal(ADDRESS)
        self.addCleanup(terminal.close)
        self.assertIn("Native protocol v5]\nUse HELP for help.\n", terminal.greeting)
        prompt = f"cqlsh:{self.keyspace}> "
        terminal.type(f"USE {self.keyspace};\n", prompt)
        # A name of a keyspace, of a table, of a column; words of the language.
        for typed, offered in (
            ("SELECT * FROM foll\t", "followers"),
            ("SELECT * FROM system.lo\t", "system.local"),
            ("SELECT name FROM followers WHERE us\t\t", "user_id"),
            ("CREATE TABLE x (k in\t\t", "inet"),
            ("ALTER TABLE followers AD\t", "ADD "),
        ):
            terminal.type(typed, offered)
            terminal.type(shell.DISCARD, "")
        # Page after page, and a statement over several lines.
        terminal.type("PAGING 3\n", "Page size: 3")
        terminal.type("SELECT name\n", "... ")
        first = terminal.type("FROM followers;\n", "---MORE---")
        self.assertIn("n002", first)
        self.assertNotIn("n003", first)
        self.assertIn("n005", terminal.type("\n", "---MORE---"))
        self.assertIn("(7 rows)", terminal.type("\n", prompt))
        self.assertIn("SELECT", terminal.type("HELP\n", prompt))
        refused = terminal.type("SELEKT;\n", prompt)
        self.assertIn("no viable alternative at input 'SELEKT'", refused)


class OfDynamoDb(unittest.TestCase):
    """A table of DynamoDB, as cqlsh describes and copies it."""

    def setUp(self):
        self.served = Served("--share", "all")
        self.addCleanup(self.served.close)
        self.dynamodb("CreateTable", TableName="my-films", BillingMode="PAY_PER_REQUEST",
                      AttributeDefinitions=[{"AttributeName": "studio", "AttributeType": "S"},
                                            {"AttributeName": "number", "AttributeType": "N"}],
                      KeySchema=[{"AttributeName": "studio", "KeyType": "HASH"},
                                 {"AttributeName": "number", "KeyType": "RANGE"}])
        for number in range(1, 41):
            self.dynamodb("PutItem", TableName="my-films", Item={
                "studio": {"S": f"s{number % 7}"}, "number": {"N": str(number)},
                "title": {"S": f"Film, {number}"}, "extra": {"L": [{"N": str(number)}]}})

    def dynamodb(self, operation, **body):
        request = urllib.request.Request(
            f"http://{self.served.addresses['dynamodb']}/", json.dumps(body).encode(),
            {"X-Amz-Target": f"DynamoDB_20120810.{operation}",
             "Content-Type": "application/x-amz-json-1.0"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def cqlsh(self, script):
        return shell.run(self.served.addresses["cql"], script)

    def test_described_and_copied(self):
        out = self.cqlsh("""
            ALTER TABLE dynamodb."my-films" ADD title text;
            DESCRIBE KEYSPACES;
            USE dynamodb;
            DESCRIBE TABLES;
            DESCRIBE TABLE "my-films";
            SELECT * FROM "my-films" WHERE studio = 's3' AND number = 10;""")
        for text in ('dynamodb', '"my-films"', 'CREATE TABLE dynamodb."my-films" (',
                     "PRIMARY KEY (studio, number)", "other_attributes text",
                     '     10 | {"extra":{"L":[{"N":"10"}]}} | Film, 10'):
            self.assertIn(text, out)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "films.csv"
            out = self.cqlsh(f"""
                COPY dynamodb."my-films" TO '{file}' WITH HEADER = true AND PAGESIZE = 7;""")
            self.assertIn("40 rows exported", out)
            before = self.dynamodb("Scan", TableName="my-films")
            for item in before["Items"]:
                self.dynamodb("DeleteItem", TableName="my-films",
                              Key={"studio": item["studio"], "number": item["number"]})
            out = self.cqlsh(f"""COPY dynamodb."my-films" FROM '{file}' WITH HEADER = true;""")
            self.assertIn("40 rows imported", out)
        self.assertEqual(self.dynamodb("Scan", TableName="my-films"), before)


if __name__ == "__main__":
    unittest.main()
