"""DDL, prepared reads and writes, paging, batches, conditions, tracing, the object mapper."""

import datetime
import decimal
import unittest
import uuid

from cassandra import AlreadyExists, InvalidRequest
from cassandra.query import BatchStatement, BatchType, SimpleStatement
from cassandra.protocol import SyntaxException

from bed import Bed, connect, new_keyspace


class Statements(Bed):
    def test_a_new_table_is_in_the_metadata(self):
        name = self.table("a int, b text, c timestamp, s text static, v map<text, int>, "
                          "PRIMARY KEY ((a), b, c)")
        table = self.cluster.metadata.keyspaces[self.keyspace].tables[name]
        self.assertEqual([column.name for column in table.partition_key], ["a"])
        self.assertEqual([column.name for column in table.clustering_key], ["b", "c"])
        self.assertEqual(table.columns["v"].cql_type, "map<text, int>")
        self.assertTrue(table.columns["s"].is_static)
        with self.assertRaises(AlreadyExists):
            self.session.execute(f"CREATE TABLE {name} (a int PRIMARY KEY)")
        self.session.execute(f"DROP TABLE {name}")
        self.assertNotIn(name, self.cluster.metadata.keyspaces[self.keyspace].tables)

    def test_prepared_values_of_every_simple_type(self):
        types = {
            "ascii": "abc", "bigint": -5, "blob": b"\x00\xff", "boolean": True,
            "date": datetime.date(2026, 11, 21), "decimal": decimal.Decimal("1.50"),
            "double": 1.25, "float": 0.5, "inet": "127.0.0.1", "int": 7, "smallint": -3,
            "text": "ä", "time": datetime.time(1, 2, 3), "timestamp":
            datetime.datetime(2026, 1, 2, 3, 4, 5), "timeuuid": uuid.uuid1(), "tinyint": 1,
            "uuid": uuid.uuid4(), "varint": 2**70,
        }
        columns = ", ".join(f"c_{name} {name}" for name in types)
        table = self.table(f"k int PRIMARY KEY, {columns}")
        names = ", ".join(f"c_{name}" for name in types)
        marks = ", ".join("?" for _ in types)
        insert = self.session.prepare(f"INSERT INTO {table} (k, {names}) VALUES (?, {marks})")
        self.session.execute(insert, [1, *types.values()])
        select = self.session.prepare(f"SELECT {names} FROM {table} WHERE k = ?")
        row = self.session.execute(select, [1]).one()
        for name, value in types.items():
            found = getattr(row, f"c_{name}")
            if name in ("date", "time"):
                found = getattr(found, name)()
            self.assertEqual(found, value, name)
        self.assertEqual(insert.routing_key_indexes, [0])

    def test_a_large_partition_under_a_view_is_deleted(self):
        table = self.table("k int, c int, a int, v text, PRIMARY KEY (k, c)")
        view = f"{table}_by_a"
        self.session.execute(
            f"CREATE MATERIALIZED VIEW {view} AS SELECT * FROM {table} WHERE a IS NOT NULL AND "
            "k IS NOT NULL AND c IS NOT NULL PRIMARY KEY (a, k, c)")
        insert = self.session.prepare(f"INSERT INTO {table} (k, c, a, v) VALUES (?, ?, ?, ?)")
        # Twelve MB: more than one step of a deletion takes.
        futures = [self.session.execute_async(insert, [1, c, c % 3, "v" * 8_000])
                   for c in range(1500)]
        futures.append(self.session.execute_async(insert, [2, 1, 0, "kept"]))
        for future in futures:
            future.result()
        count = self.session.prepare(f"SELECT count(*) FROM {view} WHERE a = ?")
        self.assertEqual(self.session.execute(count, [0]).one()[0], 501)
        self.session.execute(f"DELETE FROM {table} WHERE k = 1 AND c >= 10")
        self.assertEqual([self.session.execute(count, [a]).one()[0] for a in range(3)], [5, 3, 3])
        self.session.execute(f"DELETE FROM {table} WHERE k = 1")
        self.session.execute(insert, [1, 700, 1, "later"])
        rows = sorted((row.a, row.k, row.c, row.v)
                      for row in self.session.execute(f"SELECT a, k, c, v FROM {view}"))
        self.assertEqual(rows, [(0, 2, 1, "kept"), (1, 1, 700, "later")])

    def test_pages(self):
        table = self.table("k int, c int, v text, PRIMARY KEY (k, c)")
        insert = self.session.prepare(f"INSERT INTO {table} (k, c, v) VALUES (?, ?, ?)")
        futures = [self.session.execute_async(insert, [1, c, "v" * 50]) for c in range(1000)]
        for future in futures:
            future.result()
        statement = SimpleStatement(f"SELECT c FROM {table} WHERE k = 1", fetch_size=37)
        self.assertEqual([row.c for row in self.session.execute(statement)], list(range(1000)))
        prepared = self.session.prepare(f"SELECT c FROM {table} WHERE k = ? LIMIT ?")
        prepared.fetch_size = 10
        rows = self.session.execute(prepared, [1, 95])
        self.assertEqual([row.c for row in rows], list(range(95)))
        everything = SimpleStatement(f"SELECT DISTINCT k FROM {table}", fetch_size=1)
        self.assertEqual([row.k for row in self.session.execute(everything)], [1])

    def test_batches(self):
        table = self.table("k int, c int, v text, PRIMARY KEY (k, c)")
        insert = self.session.prepare(f"INSERT INTO {table} (k, c, v) VALUES (?, ?, ?)")
        for kind in (BatchType.LOGGED, BatchType.UNLOGGED):
            batch = BatchStatement(batch_type=kind)
            for c in range(10):
                batch.add(insert, (int(kind.value), c, str(c)))
            batch.add(SimpleStatement(f"DELETE FROM {table} WHERE k = 9 AND c = 1"))
            self.session.execute(batch)
        self.session.execute("BEGIN BATCH APPLY BATCH")
        count = self.session.execute(f"SELECT count(*) FROM {table}").one()[0]
        self.assertEqual(count, 20)

    def test_conditions(self):
        table = self.table("k int PRIMARY KEY, v text")
        insert = f"INSERT INTO {table} (k, v) VALUES (1, 'a') IF NOT EXISTS"
        self.assertTrue(self.session.execute(insert).was_applied)
        second = self.session.execute(insert).one()
        self.assertFalse(second.applied)
        self.assertEqual(second.v, "a")
        update = self.session.prepare(f"UPDATE {table} SET v = ? WHERE k = ? IF v = ?")
        self.assertTrue(self.session.execute(update, ["b", 1, "a"]).was_applied)
        refused = self.session.execute(update, ["c", 1, "a"]).one()
        self.assertEqual((refused[0], refused.v), (False, "b"))

    def test_collections_and_user_types(self):
        self.session.execute("CREATE TYPE address (street text, zip int)")
        table = self.table("k int PRIMARY KEY, l list<int>, s set<text>, m map<text, int>, "
                           "t frozen<tuple<int, text>>, a frozen<address>, v vector<float, 3>")
        insert = self.session.prepare(f"INSERT INTO {table} (k, l, s, m, t) VALUES (?,?,?,?,?)")
        self.session.execute(insert, [1, [3, 1], {"b", "a"}, {"x": 1}, (7, "t")])
        self.session.execute(f"UPDATE {table} SET l = l + [9], m['y'] = 2, "
                             "a = {street: 'S', zip: 5}, v = [1, 2.5, 3] WHERE k = 1")
        row = self.session.execute(f"SELECT * FROM {table} WHERE k = 1").one()
        self.assertEqual(row.l, [3, 1, 9])
        self.assertEqual(set(row.s), {"a", "b"})
        self.assertEqual(dict(row.m), {"x": 1, "y": 2})
        self.assertEqual(row.t, (7, "t"))
        self.assertEqual((row.a.street, row.a.zip), ("S", 5))
        self.assertEqual(list(row.v), [1, 2.5, 3])

    def test_errors(self):
        with self.assertRaises(SyntaxException):
            self.session.execute("SELEKT 1")
        with self.assertRaises(InvalidRequest):
            self.session.execute("SELECT * FROM not_there")
        table = self.table("k int, c int, v int, PRIMARY KEY (k, c)")
        with self.assertRaisesRegex(InvalidRequest, "ALLOW FILTERING"):
            self.session.execute(f"SELECT * FROM {table} WHERE v = 1")

    def test_a_trace_can_be_read(self):
        result = self.session.execute("SELECT * FROM system.local", trace=True)
        trace = result.get_query_trace(max_wait_sec=10)
        self.assertEqual(trace.request_type, "Execute CQL3 query")
        self.assertGreater(len(trace.events), 1)

    def test_columns_added_later_reach_prepared_statements(self):
        table = self.table("k int PRIMARY KEY, v text")
        self.session.execute(f"INSERT INTO {table} (k, v) VALUES (1, 'a')")
        select = self.session.prepare(f"SELECT * FROM {table} WHERE k = ?")
        self.assertEqual(tuple(self.session.execute(select, [1]).one()), (1, "a"))
        self.session.execute(f"ALTER TABLE {table} ADD w int")
        row = self.session.execute(select, [1]).one()
        self.assertEqual(row._asdict(), {"k": 1, "v": "a", "w": None})


class Mapper(unittest.TestCase):
    def test_models(self):
        from cassandra.cqlengine import columns, connection, management, models

        cluster, session = connect()
        self.addCleanup(cluster.shutdown)
        keyspace = new_keyspace(session)
        connection.register_connection("test", session=session, default=True)
        self.addCleanup(connection.unregister_connection, "test")

        class Person(models.Model):
            __keyspace__ = keyspace
            town = columns.Text(partition_key=True)
            name = columns.Text(primary_key=True, clustering_order="DESC")
            age = columns.Integer(index=True)
            tags = columns.Set(columns.Text)

        management.sync_table(Person)
        Person.create(town="Ulm", name="Ann", age=40, tags={"a"})
        Person.create(town="Ulm", name="Bob", age=41)
        names = [person.name for person in Person.objects.filter(town="Ulm")]
        self.assertEqual(names, ["Bob", "Ann"])
        Person.objects(town="Ulm", name="Ann").update(age=42, tags__add={"b"})
        ann = Person.objects.get(town="Ulm", name="Ann")
        self.assertEqual((ann.age, set(ann.tags)), (42, {"a", "b"}))
        ann.delete()
        self.assertEqual(Person.objects.filter(town="Ulm").count(), 1)


if __name__ == "__main__":
    unittest.main()
