"""The object mapper in ordinary use."""

import datetime
import decimal
import unittest
import uuid

from cassandra.cqlengine import columns, connection, management, models
from cassandra.cqlengine.functions import MaxTimeUUID, MinTimeUUID, Token
from cassandra.cqlengine.query import BatchQuery, DoesNotExist, LWTException
from cassandra.cqlengine.usertype import UserType
from cassandra.util import Duration, uuid_from_time

from bed import connect, new_keyspace


def setUpModule():
    """One connection and one keyspace for all: models belong to them."""
    cluster, session = connect()
    unittest.addModuleCleanup(cluster.shutdown)
    keyspace = new_keyspace(session)
    connection.register_connection("test", session=session, default=True)
    unittest.addModuleCleanup(connection.unregister_connection, "test")
    models.DEFAULT_KEYSPACE = keyspace
    for model in (Person, Everything, Event, Visits, Room):
        model.__keyspace__ = keyspace
        management.sync_table(model)


class Address(UserType):
    street = columns.Text()
    zips = columns.List(columns.Integer)


class Person(models.Model):
    town = columns.Text(partition_key=True)
    name = columns.Text(primary_key=True, clustering_order="DESC")
    age = columns.Integer(index=True)
    tags = columns.Set(columns.Text)
    notes = columns.List(columns.Text)
    scores = columns.Map(columns.Text, columns.Integer)
    home = columns.UserDefinedType(Address)


class Everything(models.Model):
    key = columns.UUID(primary_key=True, default=uuid.uuid4)
    a_ascii = columns.Ascii()
    a_bigint = columns.BigInt()
    a_blob = columns.Blob()
    a_boolean = columns.Boolean()
    a_date = columns.Date()
    a_datetime = columns.DateTime()
    a_decimal = columns.Decimal()
    a_double = columns.Double()
    a_duration = columns.Duration()
    a_float = columns.Float()
    a_inet = columns.Inet()
    a_integer = columns.Integer()
    a_smallint = columns.SmallInt()
    a_text = columns.Text()
    a_time = columns.Time()
    a_timeuuid = columns.TimeUUID()
    a_tinyint = columns.TinyInt()
    a_varint = columns.VarInt()
    a_tuple = columns.Tuple(columns.Integer, columns.Text)
    a_nested = columns.Map(columns.Text, columns.List(columns.Integer))


class Event(models.Model):
    __options__ = {"comment": "of a day", "gc_grace_seconds": 100,
                   "compaction": {"class": "LeveledCompactionStrategy", "sstable_size_in_mb": "64"}}
    day = columns.Date(partition_key=True)
    at = columns.TimeUUID(primary_key=True, default=uuid.uuid1)
    weather = columns.Text(static=True)
    text = columns.Text()


class Visits(models.Model):
    page = columns.Text(primary_key=True)
    count = columns.Counter()
    robots = columns.Counter()


class Room(models.Model):
    house = columns.Integer(partition_key=True)
    floor = columns.Integer(partition_key=True)
    number = columns.Integer(primary_key=True)
    guest = columns.Text()


class Rows(unittest.TestCase):
    def test_made_read_changed_deleted(self):
        ann = Person.create(town="Ulm", name="Ann", age=40, tags={"a"}, notes=["x"],
                            scores={"go": 1}, home=Address(street="S", zips=[1, 2]))
        Person.create(town="Ulm", name="Bob", age=41)
        self.assertEqual([p.name for p in Person.filter(town="Ulm")], ["Bob", "Ann"])
        self.assertEqual([p.name for p in Person.filter(town="Ulm").order_by("name")],
                         ["Ann", "Bob"])
        self.assertEqual([p.name for p in Person.filter(age=41)], ["Bob"])
        found = Person.get(town="Ulm", name="Ann")
        self.assertEqual(found, ann)
        self.assertEqual((found.home.street, found.home.zips), ("S", [1, 2]))
        found.age = 42
        found.tags.add("b")
        found.notes.append("y")
        found.notes.insert(0, "w")
        found.scores["chess"] = 2
        found.home = Address(street="T")
        found.save()
        again = Person.get(town="Ulm", name="Ann")
        self.assertEqual(again.age, 42)
        self.assertEqual(set(again.tags), {"a", "b"})
        self.assertEqual(list(again.notes), ["w", "x", "y"])
        self.assertEqual(dict(again.scores), {"go": 1, "chess": 2})
        self.assertEqual(again.home.street, "T")
        Person.objects(town="Ulm", name="Ann").update(
            age=43, tags__add={"c"}, tags__remove={"a"}, notes__append=["z"],
            notes__prepend=["v"], scores__update={"go": 9})
        Person.objects(town="Ulm", name="Ann").update(scores__remove={"chess"})
        again = Person.get(town="Ulm", name="Ann")
        self.assertEqual((again.age, set(again.tags), list(again.notes), dict(again.scores)),
                         (43, {"b", "c"}, ["v", "w", "x", "y", "z"], {"go": 9}))
        again.update(age=None, tags=set())
        self.assertIsNone(Person.get(town="Ulm", name="Ann").age)
        again.delete()
        with self.assertRaises(DoesNotExist):
            Person.get(town="Ulm", name="Ann")
        self.assertEqual(Person.filter(town="Ulm").count(), 1)
        Person.filter(town="Ulm").delete()
        self.assertEqual(Person.filter(town="Ulm").count(), 0)

    def test_every_column_type(self):
        values = {
            "a_ascii": "a", "a_bigint": 2**60, "a_blob": b"\x00\xff", "a_boolean": True,
            "a_date": datetime.date(1969, 12, 31), "a_datetime":
            datetime.datetime(2026, 11, 22, 3, 4, 5, 678000), "a_decimal": decimal.Decimal("-1.50"),
            "a_double": 1.5, "a_duration": Duration(1, 2, 3), "a_float": -0.25,
            "a_inet": "::1", "a_integer": -1, "a_smallint": 300, "a_text": "ä",
            "a_time": datetime.time(1, 2, 3, 4), "a_timeuuid": uuid.uuid1(), "a_tinyint": -7,
            "a_varint": -(2**90), "a_tuple": (1, "t"), "a_nested": {"x": [1, 2], "y": [3]},
        }
        made = Everything.create(**values)
        found = Everything.get(key=made.key)
        for name, value in values.items():
            got = getattr(found, name)
            if name in ("a_date", "a_time"):
                got = getattr(got, name[2:])()
            self.assertEqual(got, value, name)
        empty = Everything.create()
        found = Everything.get(key=empty.key)
        for name in values:
            self.assertIn(getattr(found, name), (None, {}), name)

    def test_queries(self):
        day = datetime.date(2026, 11, 22)
        begin = datetime.datetime(2026, 11, 22)
        for hour in range(10):
            moment = begin + datetime.timedelta(hours=hour)
            Event.create(day=day, at=uuid_from_time(moment), text=f"e{hour}")
        Event.objects(day=day).update(weather="rain")
        self.assertEqual({event.weather for event in Event.filter(day=day)}, {"rain"})
        later = Event.filter(day=day, at__gt=MaxTimeUUID(begin + datetime.timedelta(hours=6)))
        self.assertEqual([event.text for event in later], ["e7", "e8", "e9"])
        first = Event.filter(day=day, at__lt=MinTimeUUID(begin + datetime.timedelta(hours=2)))
        self.assertEqual([event.text for event in first], ["e0", "e1"])
        last = Event.filter(day=day).order_by("-at").limit(2)
        self.assertEqual([event.text for event in last], ["e9", "e8"])
        self.assertEqual([text for (text,) in Event.filter(day=day).limit(2).values_list("text")],
                         ["e0", "e1"])
        self.assertEqual(Event.filter(day=day).only(["text"]).first().text, "e0")
        self.assertEqual(Event.filter(text="e5").allow_filtering().count(), 1)
        self.assertEqual(list(Event.objects.distinct(["day"]))[0].day.date(), day)
        self.assertEqual(len(Event.filter(day=day)[3:6]), 3)
        self.assertEqual(len(list(Event.filter(day=day).fetch_size(3))), 10)
        paged = Event.objects.fetch_size(4).all()
        self.assertEqual(len(list(paged)), 10)

    def test_token_ranges_and_in(self):
        for number in range(6):
            Room.create(house=1, floor=number % 2, number=number)
        rooms = Room.filter(house=1, floor__in=[0, 1])
        self.assertEqual(sorted(room.number for room in rooms), list(range(6)))
        rooms = Room.filter(house=1, floor=0, number__in=[0, 4, 5])
        self.assertEqual([room.number for room in rooms], [0, 4])
        everyone = list(Room.objects.all())
        half = Room.filter(pk__token__gt=Token(everyone[0].pk))
        self.assertLess(len(list(half)), 6)

    def test_batches(self):
        with BatchQuery() as batch:
            for name in ("a", "b", "c"):
                Person.batch(batch).create(town="Batch", name=name, age=1)
            Person.objects(town="Batch", name="a").batch(batch).update(age=9)
        self.assertEqual({p.name: p.age for p in Person.filter(town="Batch")},
                         {"a": 9, "b": 1, "c": 1})
        moment = datetime.datetime(2001, 1, 1)
        with BatchQuery(timestamp=moment) as batch:
            Person.objects(town="Batch", name="a").batch(batch).update(age=1)
        self.assertEqual(Person.get(town="Batch", name="a").age, 9)

    def test_conditions(self):
        Person.if_not_exists().create(town="If", name="x", age=1)
        with self.assertRaises(LWTException) as caught:
            Person.if_not_exists().create(town="If", name="x", age=2)
        self.assertEqual(caught.exception.existing["age"], 1)
        self.assertFalse(caught.exception.existing["[applied]"])
        row = Person.get(town="If", name="x")
        row.iff(age=1).update(age=3)
        with self.assertRaises(LWTException) as caught:
            row.iff(age=1).update(age=4)
        self.assertEqual(caught.exception.existing, {"[applied]": False, "age": 3})
        Person.objects(town="If", name="x").iff(age__gt=2).update(age=5)
        with self.assertRaises(LWTException):
            Person.objects(town="If", name="y").if_exists().update(age=5)
        with BatchQuery() as batch:
            Person.objects(town="If", name="x").iff(age=5).batch(batch).update(age=6)
        with self.assertRaises(LWTException):
            row.iff(age=1).delete()
        Person.objects(town="If", name="x").if_exists().delete()

    def test_counters(self):
        visits = Visits.create(page="/", count=2)
        visits.count += 5
        visits.robots -= 1
        visits.save()
        found = Visits.get(page="/")
        self.assertEqual((found.count, found.robots), (7, -1))

    def test_lifetimes_and_timestamps(self):
        Person.ttl(1000).create(town="TTL", name="x", age=1)
        rows = connection.execute(
            f"SELECT ttl(age) AS t FROM {Person.column_family_name()} "
            "WHERE town = 'TTL' AND name = 'x'")
        self.assertTrue(900 < rows.one()["t"] <= 1000)
        moment = datetime.timedelta(days=-1)
        Person.objects(town="TTL", name="x").timestamp(moment).update(age=7)
        self.assertEqual(Person.get(town="TTL", name="x").age, 1)


class Tables(unittest.TestCase):
    def test_options_are_kept_and_synced_again(self):
        management.sync_table(Event)
        cluster = connection.get_cluster()
        table = cluster.metadata.keyspaces[models.DEFAULT_KEYSPACE].tables["event"]
        self.assertEqual(table.options["comment"], "of a day")
        self.assertEqual(table.options["gc_grace_seconds"], 100)
        self.assertTrue(table.options["compaction"]["class"].endswith("LeveledCompactionStrategy"))
        self.assertTrue(table.columns["weather"].is_static)

    def test_a_model_that_grew(self):
        class Grown(models.Model):
            __keyspace__ = models.DEFAULT_KEYSPACE
            __table_name__ = "grown"
            k = columns.Integer(primary_key=True)
            v = columns.Text()

        management.sync_table(Grown)
        Grown.create(k=1, v="v")

        class GrownMore(models.Model):
            __keyspace__ = models.DEFAULT_KEYSPACE
            __table_name__ = "grown"
            k = columns.Integer(primary_key=True)
            v = columns.Text()
            w = columns.List(columns.Integer)
            x = columns.Text(index=True, db_field="renamed")

        management.sync_table(GrownMore)
        row = GrownMore.get(k=1)
        self.assertEqual((row.v, row.w, row.x), ("v", [], None))
        row.update(w=[1], x="i")
        self.assertEqual(GrownMore.filter(x="i").count(), 1)
        management.drop_table(GrownMore)

    def test_types_grow_and_keyspaces_come_and_go(self):
        name = f"{models.DEFAULT_KEYSPACE}_made"
        management.create_keyspace_simple(name, 1)

        class Spot(UserType):
            x = columns.Integer()

        class Spot2(UserType):
            __type_name__ = "spot"
            x = columns.Integer()
            y = columns.Integer()

        management.sync_type(name, Spot)
        management.sync_type(name, Spot2)
        cluster = connection.get_cluster()
        self.assertEqual(cluster.metadata.keyspaces[name].user_types["spot"].field_names,
                         ["x", "y"])
        management.drop_keyspace(name)
        self.assertNotIn(name, cluster.metadata.keyspaces)


if __name__ == "__main__":
    unittest.main()
