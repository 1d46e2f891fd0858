"""Servers of a test's own: with logins, with TLS, stopped and started again on the same store.

SHELFMARK names the command. Certificates are made here, signed by an authority made here.

    served.py WORD …

starts a server that asks for logins and encrypts, runs the words as a program, and stops it. The
program reads from its environment where the server is and what it needs to be let in.
"""

import datetime
import ipaddress
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 30

# The role that such a server is started with.
USER, PASSWORD = "ada", "pass wörd"


class Served:
    """A server on a store of its own."""

    def __init__(self, *flags, logins=False, tls=False):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="shelfmark-clients-"))
        self.flags = list(flags)
        if logins:
            password = self.folder / "password"
            password.write_text(PASSWORD + "\n", encoding="utf-8")
            self.flags += ["--cql-user", USER, "--cql-password-file", str(password)]
        if tls:
            write_certificates(self.folder)
            self.flags += ["--cql-tls-certificate", str(self.folder / "server.pem"),
                           "--cql-tls-key", str(self.folder / "server.key")]
        self.addresses = {}
        self.process = None
        self.start()

    @property
    def host(self):
        return self.addresses["cql"].rpartition(":")[0]

    @property
    def port(self):
        return int(self.addresses["cql"].rpartition(":")[2])

    @property
    def authority(self):
        """The file with the certificate that the server's is signed by."""
        return str(self.folder / "authority.pem")

    def start(self):
        """Starts the server; a second time on the same ports as the first."""
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [os.environ["SHELFMARK"], "serve", "--data", str(self.folder / "store"),
             "--ready-file", str(ready), "--cql", self.addresses.get("cql", "127.0.0.1:0"),
             "--dynamodb", self.addresses.get("dynamodb", "127.0.0.1:0"), *self.flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS_MAX
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("the server did not start")
            time.sleep(0.02)
        self.addresses = json.loads(ready.read_text())

    def stop(self):
        """Asks the server to stop and checks that it does so in good order."""
        self.process.terminate()
        if self.process.wait(STOP_SECONDS_MAX) != 0:
            raise AssertionError("the server did not stop in good order")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        """Stops the server, if it runs, and removes its store."""
        try:
            if self.process.poll() is None:
                self.stop()
        finally:
            self.kill()
            shutil.rmtree(self.folder, ignore_errors=True)


def write_certificates(folder):
    """Writes an authority, a server's certificate signed by it, and an authority of nobody's."""
    # Needed here alone: who starts servers without TLS does not have to have it.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    def named(name):
        return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])

    def certificate(name, key, issuer, issuer_key, is_authority):
        begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=1)
        names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        return (
            x509.CertificateBuilder()
            .subject_name(named(name))
            .issuer_name(named(issuer))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begin)
            .not_valid_after(begin + datetime.timedelta(days=2))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), True)
            .add_extension(x509.SubjectAlternativeName(names), False)
            .sign(issuer_key, hashes.SHA256())
        )

    def pem(certificate):
        return certificate.public_bytes(serialization.Encoding.PEM)

    authority, server, other = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    signed = certificate("localhost", server, "authority", authority, False)
    for name, key in (("authority", authority), ("other", other)):
        (folder / f"{name}.pem").write_bytes(pem(certificate(name, key, name, key, True)))
    (folder / "server.pem").write_bytes(pem(signed))
    (folder / "server.key").write_bytes(server.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption()))


def main(words):
    """Runs a program beside a server that asks for logins and encrypts; returns its exit code."""
    served = Served(logins=True, tls=True)
    try:
        variables = {
            "SHELFMARK_SECURED": served.addresses["cql"],
            "SHELFMARK_SECURED_AUTHORITY": served.authority,
            "SHELFMARK_SECURED_USER": USER,
            "SHELFMARK_SECURED_PASSWORD": PASSWORD,
        }
        return subprocess.run(words, env={**os.environ, **variables}, check=False).returncode
    finally:
        served.close()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
