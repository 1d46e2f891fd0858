"""Starts Shelfmark servers for tests. The fixtures are in `plugin`; `start` serves other test runners.

    with pytest_shelfmark.start() as server:
        boto3.client("dynamodb", **server.boto3_arguments)
"""

from .command import CommandMissing
from .server import Server, ServerError, start

__all__ = ["CommandMissing", "Server", "ServerError", "start"]
__version__ = "0.1.0"
