"""What the drivers offer beside statements: many at once, pages, routing, metadata, payloads."""

import threading
import time
import unittest

from cassandra import ConsistencyLevel, InvalidRequest, OperationTimedOut
from cassandra.cluster import ExecutionProfile
from cassandra.concurrent import execute_concurrent, execute_concurrent_with_args
from cassandra.metadata import Murmur3Token
from cassandra.policies import (ConstantSpeculativeExecutionPolicy, DCAwareRoundRobinPolicy,
                                TokenAwarePolicy)
from cassandra.query import (UNSET_VALUE, BatchStatement, SimpleStatement, ValueSequence,
                             dict_factory, named_tuple_factory, tuple_factory)

from bed import Bed, connect


class Filled(Bed):
    """What the cases below share; has none itself."""

    def filled(self, rows):
        """Makes a table with so many rows, each a partition."""
        name = self.table("k int PRIMARY KEY, v text")
        insert = self.session.prepare(f"INSERT INTO {name} (k, v) VALUES (?, ?)")
        execute_concurrent_with_args(
            self.session, insert, [(k, f"v{k}") for k in range(rows)], concurrency=100)
        return name


class Many(Filled):
    def test_many_statements_at_once(self):
        name = self.filled(1000)
        select = self.session.prepare(f"SELECT v FROM {name} WHERE k = ?")
        results = execute_concurrent_with_args(
            self.session, select, [(k,) for k in range(1000)], concurrency=200)
        self.assertEqual([result.one().v for _, result in results],
                         [f"v{k}" for k in range(1000)])
        mixed = [(select, (1,)), (SimpleStatement("SELECT * FROM not_there"), ())]
        answers = execute_concurrent(self.session, mixed, raise_on_first_error=False)
        self.assertEqual([success for success, _ in answers], [True, False])
        self.assertIsInstance(answers[1].result_or_exc, InvalidRequest)
        with self.assertRaises(InvalidRequest):
            execute_concurrent(self.session, mixed)

    def test_callbacks_take_page_after_page(self):
        name = self.filled(95)
        statement = SimpleStatement(f"SELECT k FROM {name}", fetch_size=10)
        future = self.session.execute_async(statement)
        seen, pages, done, trouble = [], [], threading.Event(), []

        def page(rows):
            seen.extend(row.k for row in rows)
            pages.append(len(rows))
            if future.has_more_pages:
                future.start_fetching_next_page()
            else:
                done.set()

        def failed(error):
            trouble.append(error)
            done.set()

        future.add_callbacks(page, failed)
        self.assertTrue(done.wait(60))
        self.assertEqual(trouble, [])
        self.assertEqual(sorted(seen), list(range(95)))
        self.assertEqual(len(seen), 95)
        self.assertGreaterEqual(len(pages), 10)

    def test_two_thousand_pages_while_others_write(self):
        name = self.filled(2000)
        insert = self.session.prepare(f"INSERT INTO {name} (k, v) VALUES (?, ?)")
        stop, written = threading.Event(), []

        def write():
            k = 1_000_000
            while not stop.is_set():
                self.session.execute(insert, (k, "new"))
                self.session.execute(insert, (k % 2000, f"v{k % 2000}"))
                k += 1
            written.append(k - 1_000_000)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            tokens, keys, pages = [], [], 1
            statement = SimpleStatement(f"SELECT token(k), k FROM {name}", fetch_size=1)
            found = self.session.execute(statement)
            while True:
                for token, k in found.current_rows:
                    tokens.append(token)
                    keys.append(k)
                if not found.has_more_pages:
                    break
                found.fetch_next_page()
                pages += 1
        finally:
            stop.set()
            writer.join()
        self.assertGreater(written[0], 0)
        self.assertGreaterEqual(pages, 2000)
        self.assertEqual(tokens, sorted(tokens))
        self.assertEqual(len(keys), len(set(keys)))
        self.assertEqual(sorted(k for k in keys if k < 1_000_000), list(range(2000)))

    def test_ranges_of_tokens_share_a_scan_out(self):
        name = self.filled(300)
        ends = [-(2**63), *(n * 2**61 for n in range(-3, 4)), 2**63 - 1]
        select = self.session.prepare(
            f"SELECT k FROM {name} WHERE token(k) > ? AND token(k) <= ?")
        seen = [row.k for low, high in zip(ends, ends[1:])
                for row in self.session.execute(select, (low, high))]
        self.assertEqual(sorted(seen), list(range(300)))


class Features(Filled):
    def test_forms_of_rows(self):
        name = self.filled(1)
        for factory, expected in ((tuple_factory, (0, "v0")), (dict_factory, {"k": 0, "v": "v0"}),
                                  (named_tuple_factory, (0, "v0"))):
            profile = self.session.execution_profile_clone_update(
                self.cluster.profile_manager.default, row_factory=factory)
            row = self.session.execute(f"SELECT * FROM {name}", execution_profile=profile).one()
            self.assertEqual(row, expected)

    def test_statements_go_where_their_token_lies(self):
        policy = TokenAwarePolicy(DCAwareRoundRobinPolicy(local_dc="datacenter1"))
        profile = ExecutionProfile(load_balancing_policy=policy, request_timeout=60)
        cluster, session = connect(self.keyspace, profile)
        self.addCleanup(cluster.shutdown)
        name = self.filled(5)
        insert = session.prepare(f"SELECT token(k) AS t FROM {self.keyspace}.{name} WHERE k = ?")
        (host,) = cluster.metadata.all_hosts()
        self.assertEqual((host.datacenter, host.rack), ("datacenter1", "rack1"))
        for k in range(5):
            bound = insert.bind((k,))
            self.assertEqual(session.execute(bound).one().t,
                             Murmur3Token.from_key(bound.routing_key).value)
            replicas = cluster.metadata.get_replicas(self.keyspace, bound.routing_key)
            self.assertEqual(replicas, [host])

    def test_a_second_request_when_the_first_is_slow(self):
        policy = ConstantSpeculativeExecutionPolicy(0.001, 3)
        profile = ExecutionProfile(
            load_balancing_policy=DCAwareRoundRobinPolicy(local_dc="datacenter1"),
            speculative_execution_policy=policy, request_timeout=60)
        cluster, session = connect(self.keyspace, profile)
        self.addCleanup(cluster.shutdown)
        statement = SimpleStatement("SELECT * FROM system_schema.columns", is_idempotent=True)
        self.assertGreater(len(list(session.execute(statement))), 100)

    def test_a_payload_of_somebody_is_passed_over(self):
        payload = {"any": b"thing", "else": b""}
        result = self.session.execute("SELECT key FROM system.local", custom_payload=payload)
        self.assertEqual(result.one().key, "local")
        self.assertIsNone(result.response_future.custom_payload)

    def test_warnings_reach_the_client(self):
        name = self.filled(3)
        future = self.session.execute_async(f"SELECT count(*) FROM {name}")
        self.assertEqual(future.result().one()[0], 3)
        self.assertEqual(future.warnings, ["Aggregation query used without partition key"])
        batch = BatchStatement()
        for k in range(3):
            batch.add(f"INSERT INTO {name} (k, v) VALUES ({k}, 'w')")
        future = self.session.execute_async(batch)
        future.result()
        self.assertIsNone(future.warnings)

    def test_who_does_not_want_to_wait_may_go(self):
        with self.assertRaises(OperationTimedOut):
            self.session.execute("SELECT * FROM system_schema.columns", timeout=0.000001)
        self.assertEqual(self.session.execute("SELECT key FROM system.local").one().key, "local")

    def test_every_consistency(self):
        name = self.filled(1)
        for level, text in ConsistencyLevel.value_to_name.items():
            if level in (ConsistencyLevel.SERIAL, ConsistencyLevel.LOCAL_SERIAL):
                continue
            with self.subTest(level=text):
                write = SimpleStatement(
                    f"INSERT INTO {name} (k, v) VALUES (0, '{text}')", consistency_level=level)
                self.session.execute(write)
                if level in (ConsistencyLevel.ANY, ConsistencyLevel.EACH_QUORUM):
                    continue
                read = SimpleStatement(f"SELECT v FROM {name}", consistency_level=level)
                self.assertEqual(self.session.execute(read).one().v, text)
        for level in (ConsistencyLevel.SERIAL, ConsistencyLevel.LOCAL_SERIAL):
            read = SimpleStatement(f"SELECT v FROM {name} WHERE k = 0", consistency_level=level)
            self.assertTrue(self.session.execute(read).one())
            write = SimpleStatement(f"UPDATE {name} SET v = 's' WHERE k = 0 IF EXISTS",
                                    serial_consistency_level=level)
            self.assertTrue(self.session.execute(write).was_applied)

    def test_null_and_unset(self):
        name = self.table("k int PRIMARY KEY, a text, b text")
        insert = self.session.prepare(f"INSERT INTO {name} (k, a, b) VALUES (?, ?, ?)")
        select = self.session.prepare(f"SELECT a, b FROM {name} WHERE k = ?")
        self.session.execute(insert, (1, "a", "b"))
        self.session.execute(insert, (1, UNSET_VALUE, None))
        self.assertEqual(tuple(self.session.execute(select, (1,)).one()), ("a", None))
        # What is not given at all is not set either.
        self.session.execute(insert, (1,))
        self.assertEqual(tuple(self.session.execute(select, (1,)).one()), ("a", None))
        self.session.execute(insert, {"k": 1, "b": "c"})
        self.assertEqual(tuple(self.session.execute(select, (1,)).one()), ("a", "c"))
        with self.assertRaisesRegex(InvalidRequest, "Invalid null value in condition for column k"):
            self.session.execute(select, (None,))

    def test_values_written_into_the_text(self):
        name = self.filled(5)
        rows = self.session.execute(f"SELECT k FROM {name} WHERE k IN %s",
                                    (ValueSequence([3, 1, 99]),))
        self.assertEqual(sorted(row.k for row in rows), [1, 3])
        rows = self.session.execute(f"SELECT v FROM {name} WHERE k = %(key)s", {"key": 2})
        self.assertEqual(rows.one().v, "v2")
        quoted = "it's\na \"text\" with $$ and ä"
        self.session.execute(f"INSERT INTO {name} (k, v) VALUES (%s, %s)", (7, quoted))
        row = self.session.execute(f"SELECT v FROM {name} WHERE k = 7").one()
        self.assertEqual(row.v, quoted)

    def test_counters(self):
        name = self.table("k text PRIMARY KEY, n counter, m counter")
        update = self.session.prepare(f"UPDATE {name} SET n = n + ?, m = m - ? WHERE k = ?")
        execute_concurrent_with_args(self.session, update, [(1, 2, "a")] * 100, concurrency=50)
        row = self.session.execute(f"SELECT * FROM {name}").one()
        self.assertEqual((row.k, row.n, row.m), ("a", 100, -200))
        with self.assertRaises(InvalidRequest):
            self.session.execute(f"INSERT INTO {name} (k, n) VALUES ('b', 1)")

    def test_timestamps_of_the_client_count(self):
        name = self.table("k int PRIMARY KEY, v text")
        insert = self.session.prepare(f"INSERT INTO {name} (k, v) VALUES (?, ?) USING TIMESTAMP ?")
        self.session.execute(insert, (1, "late", 2000))
        self.session.execute(insert, (1, "early", 1000))
        row = self.session.execute(f"SELECT v, writetime(v) AS w FROM {name} WHERE k = 1").one()
        self.assertEqual(tuple(row), ("late", 2000))
        before = int(time.time() * 1_000_000)
        self.session.execute(f"INSERT INTO {name} (k, v) VALUES (2, 'now')")
        row = self.session.execute(f"SELECT writetime(v) AS w FROM {name} WHERE k = 2").one()
        self.assertLess(abs(row.w - before), 60_000_000)


class Metadata(Bed):
    def test_everything_is_in_the_metadata_and_can_be_made_again(self):
        run = self.session.execute
        run("CREATE TYPE point (x int, y frozen<list<int>>)")
        run("CREATE TABLE base (a int, b text, c int, s text static, p frozen<point>, "
            "m map<text, frozen<point>>, PRIMARY KEY ((a, b), c)) "
            "WITH CLUSTERING ORDER BY (c DESC) AND comment = 'it''s' "
            "AND default_time_to_live = 77")
        run("CREATE INDEX by_s ON base (p)")
        run("CREATE INDEX by_keys ON base (KEYS(m))")
        run("CREATE MATERIALIZED VIEW seen AS SELECT a, b, c, p FROM base WHERE a IS NOT NULL "
            "AND b IS NOT NULL AND c IS NOT NULL PRIMARY KEY ((c), a, b)")
        self.cluster.refresh_keyspace_metadata(self.keyspace)
        keyspace = self.cluster.metadata.keyspaces[self.keyspace]
        self.assertEqual(keyspace.user_types["point"].field_names, ["x", "y"])
        base, view = keyspace.tables["base"], keyspace.views["seen"]
        self.assertEqual([c.name for c in base.partition_key], ["a", "b"])
        self.assertTrue(base.columns["c"].is_reversed)
        self.assertEqual(base.options["comment"], "it's")
        self.assertEqual(base.options["default_time_to_live"], 77)
        self.assertEqual(set(base.indexes), {"by_s", "by_keys"})
        self.assertEqual(base.indexes["by_keys"].index_options["target"], "keys(m)")
        self.assertEqual(set(base.views), {"seen"})
        self.assertEqual([c.name for c in view.partition_key], ["c"])
        self.assertEqual(view.base_table_name, "base")
        text = keyspace.export_as_string()
        for name in ("base", "seen"):
            self.assertIn(f".{name}", text)
        copy = f"{self.keyspace}_copy"
        for statement in text.replace(self.keyspace, copy).split(";"):
            if statement.strip():
                run(statement)
        self.cluster.refresh_keyspace_metadata(copy)
        again = self.cluster.metadata.keyspaces[copy].export_as_string()
        self.assertEqual(again.replace(copy, self.keyspace), text)

    def test_refreshing_one_thing_at_a_time(self):
        self.session.execute("CREATE TYPE small (x int)")
        self.session.execute("CREATE TABLE one (k int PRIMARY KEY, v int)")
        self.session.execute("CREATE MATERIALIZED VIEW other AS SELECT * FROM one "
                             "WHERE v IS NOT NULL AND k IS NOT NULL PRIMARY KEY (v, k)")
        self.cluster.refresh_schema_metadata()
        self.cluster.refresh_table_metadata(self.keyspace, "one")
        self.cluster.refresh_materialized_view_metadata(self.keyspace, "other")
        self.cluster.refresh_user_type_metadata(self.keyspace, "small")
        keyspace = self.cluster.metadata.keyspaces[self.keyspace]
        self.assertIn("other", keyspace.tables["one"].views)
        self.assertIn("small", keyspace.user_types)

    def test_what_others_change_is_heard_of(self):
        other, session = connect(self.keyspace, schema_event_refresh_window=0)
        self.addCleanup(other.shutdown)

        def heard(check):
            deadline = time.monotonic() + 20
            while not check(other.metadata.keyspaces) and time.monotonic() < deadline:
                time.sleep(0.05)
            return check(other.metadata.keyspaces)

        run, here = self.session.execute, self.keyspace
        run("CREATE TABLE heard (k int PRIMARY KEY)")
        self.assertTrue(heard(lambda known: "heard" in known[here].tables))
        run("ALTER TABLE heard ADD v text")
        self.assertTrue(heard(lambda known: "v" in known[here].tables["heard"].columns))
        run("CREATE TYPE heard_of (x int)")
        self.assertTrue(heard(lambda known: "heard_of" in known[here].user_types))
        run("CREATE INDEX heard_index ON heard (v)")
        self.assertTrue(heard(lambda known: "heard_index" in known[here].indexes))
        run("DROP TABLE heard")
        self.assertTrue(heard(lambda known: "heard" not in known[here].tables))
        run(f"CREATE KEYSPACE {here}_new WITH replication = "
            "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        self.assertTrue(heard(lambda known: f"{here}_new" in known))
        run(f"DROP KEYSPACE {here}_new")
        self.assertTrue(heard(lambda known: f"{here}_new" not in known))
        self.assertEqual(session.execute("SELECT key FROM system.local").one().key, "local")


class Prepared(Filled):
    def test_after_the_table_was_changed(self):
        for version in (4, 5):
            with self.subTest(version=version):
                cluster, session = connect(self.keyspace, protocol_version=version)
                self.addCleanup(cluster.shutdown)
                name = self.table("k int PRIMARY KEY, v text, w int")
                insert = session.prepare(f"INSERT INTO {name} (k, v) VALUES (?, ?)")
                select = session.prepare(f"SELECT * FROM {name} WHERE k = ?")
                session.execute(insert, (1, "a"))
                self.assertEqual(session.execute(select, (1,)).one()._fields, ("k", "v", "w"))
                # By another client: nothing tells this one.
                self.session.execute(f"ALTER TABLE {name} ADD x text")
                session.execute(insert, (2, "b"))
                self.assertEqual(session.execute(select, (2,)).one()._asdict(),
                                 {"k": 2, "v": "b", "w": None, "x": None})
                self.session.execute(f"ALTER TABLE {name} DROP w")
                self.assertEqual(session.execute(select, (2,)).one()._fields, ("k", "v", "x"))
                self.session.execute(f"ALTER TABLE {name} DROP v")
                with self.assertRaisesRegex(InvalidRequest, "Undefined column name v"):
                    session.execute(insert, (3, "c"))

    def test_after_the_table_was_dropped(self):
        name = self.table("k int PRIMARY KEY, v text")
        select = self.session.prepare(f"SELECT * FROM {name} WHERE k = ?")
        self.session.execute(f"DROP TABLE {name}")
        with self.assertRaisesRegex(InvalidRequest, f"table {name} does not exist"):
            self.session.execute(select, (1,))
        self.session.execute(f"CREATE TABLE {name} (k int PRIMARY KEY, other int)")
        self.session.execute(f"INSERT INTO {name} (k, other) VALUES (1, 2)")
        self.assertEqual(self.session.execute(select, (1,)).one()._asdict(),
                         {"k": 1, "other": 2})

    def test_a_keyspace_of_the_statement(self):
        cluster, session = connect(protocol_version=5)
        self.addCleanup(cluster.shutdown)
        name = self.filled(2)
        select = session.prepare(f"SELECT v FROM {name} WHERE k = ?", keyspace=self.keyspace)
        self.assertEqual(session.execute(select, (1,)).one().v, "v1")
        plain = SimpleStatement(f"SELECT v FROM {name} WHERE k = 0", keyspace=self.keyspace)
        self.assertEqual(session.execute(plain).one().v, "v0")

    def test_user_types_as_classes(self):
        class Address:
            def __init__(self, street, codes):
                self.street, self.codes = street, codes

        run = self.session.execute
        run("CREATE TYPE phone (country int, number text)")
        run("CREATE TYPE address (street text, codes frozen<map<text, frozen<phone>>>)")
        name = self.table("k int PRIMARY KEY, home frozen<address>, all_of list<frozen<address>>, "
                          "live address")
        self.cluster.register_user_type(self.keyspace, "address", Address)
        insert = self.session.prepare(
            f"INSERT INTO {name} (k, home, all_of, live) VALUES (?, ?, ?, ?)")

        class Call:
            def __init__(self, country, number):
                self.country, self.number = country, number

        self.cluster.register_user_type(self.keyspace, "phone", Call)
        home = Address("Street", {"m": Call(49, "1"), "w": Call(None, "2")})
        self.session.execute(insert, (1, home, [home, Address("B", {})], home))
        row = run(f"SELECT * FROM {name}").one()
        self.assertIsInstance(row.home, Address)
        self.assertEqual(row.home.codes["m"].number, "1")
        self.assertIsNone(row.home.codes["w"].country)
        self.assertEqual([entry.street for entry in row.all_of], ["Street", "B"])
        run(f"UPDATE {name} SET live.street = 'New' WHERE k = 1")
        self.assertEqual(run(f"SELECT live FROM {name}").one().live.street, "New")


if __name__ == "__main__":
    unittest.main()
