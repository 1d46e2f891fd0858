"""cqlsh that has to log in, and that encrypts."""

import os
import unittest

import shell
from served import PASSWORD, USER, Served


class Logins(unittest.TestCase):
    def refused(self, served, *more):
        out = shell.run(served.addresses["cql"], "SHOW HOST\n", *more, right=False)
        self.assertIn("Unable to connect to any servers", out)
        self.assertNotIn("Connected to", out)
        return out

    def test_names_and_passwords(self):
        served = Served(logins=True)
        self.addCleanup(served.close)
        address = served.addresses["cql"]
        # The warning about passwords in command lines goes to the errors.
        out = shell.run(address, "SHOW HOST\nCREATE ROLE bob WITH PASSWORD = 'b' AND LOGIN = true;",
                        "-u", USER, "-p", PASSWORD, right=False)
        self.assertIn("Connected to ", out)
        self.assertIn("Provided username ada and/or password are incorrect",
                      self.refused(served, "-u", USER, "-p", "wrong"))
        self.assertIn("requires authentication", self.refused(served))
        out = shell.run(address, "CREATE ROLE eve;", "-u", "bob", "-p", "b", right=False)
        self.assertIn("script:2:Unauthorized: Error from server: code=2100 [Unauthorized] "
                      "message=\"User bob does not have sufficient privileges to perform the "
                      "requested operation\"", out)
        out = shell.run(address, f"LOGIN bob 'b'\nDROP ROLE bob;\n"
                        f"LOGIN {USER} '{PASSWORD}'\nDROP ROLE bob;\nLOGIN bob 'b'\n",
                        "-u", USER, "-p", PASSWORD, right=False)
        self.assertIn("script:3:Unauthorized", out)
        self.assertIn("Provided username bob and/or password are incorrect", out)
        terminal = shell.Terminal(address, "-u", USER, "-p", PASSWORD)
        self.addCleanup(terminal.close)
        self.assertIn("Connected to", terminal.greeting)

    def test_encrypted(self):
        served = Served(logins=True, tls=True)
        self.addCleanup(served.close)
        login = ("-u", USER, "-p", PASSWORD)
        self.addCleanup(os.environ.pop, "SSL_CERTFILE", None)
        os.environ["SSL_CERTFILE"] = served.authority
        out = shell.run(served.addresses["cql"], "SHOW HOST\nSELECT key FROM system.local;",
                        "--ssl", *login, right=False)
        self.assertIn("Connected to", out)
        self.assertIn(" local\n", out)
        self.refused(served, *login)
        # Whose certificate it is cannot be tried: the driver, as cqlsh asks it, checks none.


if __name__ == "__main__":
    unittest.main()
