"""Logins and TLS: who is let in, who is not and what they read, and what a role may do."""

import socket
import ssl
import unittest

from cassandra import AuthenticationFailed, InvalidRequest, Unauthorized
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import Cluster, EXEC_PROFILE_DEFAULT, ExecutionProfile, NoHostAvailable
from cassandra.policies import WhiteListRoundRobinPolicy

from served import PASSWORD, USER, Served


def cluster_of(served, user=None, password=None, **options):
    """Returns a cluster that is not connected yet."""
    profile = ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([served.host]), request_timeout=60)
    provider = PlainTextAuthProvider(user, password) if user is not None else None
    return Cluster([served.host], port=served.port, auth_provider=provider, connect_timeout=30,
                   execution_profiles={EXEC_PROFILE_DEFAULT: profile}, **options)


def encrypted(served, authority=None, check_hostname=True):
    """Returns what a client needs that trusts the authority alone."""
    context = ssl.create_default_context(cafile=authority or served.authority)
    context.check_hostname = check_hostname
    return {"ssl_context": context, "ssl_options": {"server_hostname": "127.0.0.1"}}


class Bed(unittest.TestCase):
    """What the cases below share; has none itself."""

    def session(self, user=None, password=None, **options):
        cluster = cluster_of(self.served, user, password, **options)
        self.addCleanup(cluster.shutdown)
        return cluster.connect()

    def refused(self, user=None, password=None, **options):
        """Returns what the driver says of the login."""
        cluster = cluster_of(self.served, user, password, **options)
        self.addCleanup(cluster.shutdown)
        with self.assertRaises(NoHostAvailable) as caught:
            cluster.connect()
        (error,) = caught.exception.errors.values()
        return error


class Logins(Bed):
    @classmethod
    def setUpClass(cls):
        cls.served = Served(logins=True)
        cls.addClassCleanup(cls.served.close)

    def test_the_role_of_the_start_in_every_version(self):
        for version in (3, 4, 5):
            for compression in (False, True):
                with self.subTest(version=version, compression=compression):
                    session = self.session(
                        USER, PASSWORD, protocol_version=version, compression=compression)
                    row = session.execute("SELECT release_version FROM system.local").one()
                    self.assertTrue(row.release_version.startswith("5.0."))

    def test_a_wrong_password_and_an_unknown_name_read_the_same(self):
        for version in (4, 5):
            for user, password in ((USER, "wrong"), ("nobody", PASSWORD)):
                with self.subTest(version=version, user=user, password=password):
                    error = self.refused(user, password, protocol_version=version)
                    self.assertIsInstance(error, AuthenticationFailed)
                    self.assertEqual(
                        str(error),
                        f"Failed to authenticate to {self.served.host}:{self.served.port}: Error "
                        "from server: code=0100 [Bad credentials] message=\"Provided username "
                        f"{user} and/or password are incorrect\"")
            # As Cassandra reads it: what is empty was not given.
            error = self.refused(USER, "", protocol_version=version)
            self.assertIn("Password must not be null", str(error))

    def test_who_does_not_log_in_is_not_served(self):
        error = self.refused()
        self.assertIsInstance(error, AuthenticationFailed)
        self.assertIn("requires authentication", str(error))

    def test_roles_are_made_and_log_in(self):
        first = self.session(USER, PASSWORD)
        first.execute("CREATE ROLE bob WITH PASSWORD = 'b''s' AND LOGIN = true")
        first.execute("CREATE ROLE carl WITH PASSWORD = 'c' AND LOGIN = true AND SUPERUSER = true")
        first.execute("CREATE ROLE group_of_bobs")
        with self.assertRaisesRegex(InvalidRequest, "bob already exists"):
            first.execute("CREATE ROLE bob")
        first.execute("CREATE ROLE IF NOT EXISTS bob")
        bob = self.session("bob", "b's")
        for statement in ("CREATE ROLE eve WITH PASSWORD = 'e' AND LOGIN = true",
                          "ALTER ROLE carl WITH PASSWORD = 'x'", "DROP ROLE carl"):
            with self.assertRaisesRegex(
                    Unauthorized, "User bob does not have sufficient privileges to perform the "
                                  "requested operation"):
                bob.execute(statement)
        with self.assertRaises(Unauthorized):
            bob.execute("ALTER ROLE bob WITH SUPERUSER = true")
        # Whoever may make a keyspace may do everything in it.
        first.execute("GRANT CREATE ON ALL KEYSPACES TO bob")
        bob.execute("CREATE KEYSPACE bobs WITH replication = "
                    "{'class': 'SimpleStrategy', 'replication_factor': 1}")
        bob.execute("CREATE TABLE bobs.t (k int PRIMARY KEY)")
        bob.execute("INSERT INTO bobs.t (k) VALUES (1)")
        self.assertEqual(bob.execute("SELECT k FROM bobs.t").one().k, 1)
        # One's own password, and the old one is of no use from then on.
        bob.execute("ALTER ROLE bob WITH PASSWORD = 'new'")
        self.session("bob", "new")
        self.assertIn("Provided username bob and/or password are incorrect",
                      str(self.refused("bob", "b's")))
        carl = self.session("carl", "c")
        carl.execute("CREATE USER dora WITH PASSWORD 'd' NOSUPERUSER")
        self.session("dora", "d")
        carl.execute("ALTER ROLE dora WITH LOGIN = false")
        self.assertIn("dora is not permitted to log in", str(self.refused("dora", "d")))
        self.assertIn("must not be null", str(self.refused("group_of_bobs", "")))
        self.assertIn("are incorrect", str(self.refused("group_of_bobs", "guess")))
        rows = carl.execute("SELECT role, can_login, is_superuser FROM system_auth.roles")
        roles = {row.role: (row.can_login, row.is_superuser) for row in rows}
        self.assertEqual(roles["bob"], (True, False))
        self.assertEqual(roles["carl"], (True, True))
        self.assertEqual(roles["dora"], (False, False))
        self.assertEqual(roles["group_of_bobs"], (False, False))
        for name in ("bob", "carl", "dora", "group_of_bobs"):
            first.execute(f"DROP ROLE {name}")
        self.assertIn("are incorrect", str(self.refused("bob", "new")))

    def test_a_role_that_was_dropped_is_nobody(self):
        first = self.session(USER, PASSWORD)
        first.execute("CREATE ROLE frank WITH PASSWORD = 'f' AND LOGIN = true")
        frank = self.session("frank", "f")
        first.execute("DROP ROLE frank")
        # The connection is still there; what it may do is not more than before.
        with self.assertRaises(Unauthorized):
            frank.execute("CREATE ROLE frank WITH SUPERUSER = true")

    def test_roles_outlive_a_restart(self):
        first = self.session(USER, PASSWORD)
        first.execute("CREATE ROLE gina WITH PASSWORD = 'g' AND LOGIN = true")
        first.cluster.shutdown()
        self.served.stop()
        self.served.start()
        self.session("gina", "g").execute("SELECT key FROM system.local")


class Encrypted(Bed):
    @classmethod
    def setUpClass(cls):
        cls.served = Served(logins=True, tls=True)
        cls.addClassCleanup(cls.served.close)

    def test_right_login_wrong_login_no_login(self):
        for version in (4, 5):
            with self.subTest(version=version):
                options = {**encrypted(self.served), "protocol_version": version}
                session = self.session(USER, PASSWORD, **options)
                rows = list(session.execute("SELECT * FROM system_schema.columns"))
                self.assertGreater(len(rows), 100)
                self.assertIn("[Bad credentials]", str(self.refused(USER, "no", **options)))
                self.assertIn("requires authentication", str(self.refused(**options)))

    def test_a_certificate_of_somebody_else(self):
        other = encrypted(self.served, str(self.served.folder / "other.pem"))
        error = self.refused(USER, PASSWORD, **other)
        self.assertIn("CERTIFICATE_VERIFY_FAILED", str(error))

    def test_a_client_that_does_not_encrypt_ends_its_own_connection(self):
        beside = self.session(USER, PASSWORD, **encrypted(self.served))
        with socket.create_connection((self.served.host, self.served.port), 30) as plain:
            plain.sendall(bytes.fromhex("040000000500000000"))
            answer = b"".join(iter(lambda: plain.recv(4096), b""))
        # What comes, if anything, is an alert of TLS and no frame of CQL.
        self.assertIn(answer[:1], (b"", b"\x15"))
        self.refused(USER, PASSWORD)
        self.assertEqual(beside.execute("SELECT key FROM system.local").one().key, "local")


if __name__ == "__main__":
    unittest.main()
