"""The fixtures of pytest. One server serves the whole session of a test process; `shelfmark_fresh` is a
test's own. Under pytest-xdist each worker has its own, so that tests of two workers never meet.

Clients are imported where a fixture that needs one is used, and nowhere else.
"""

from __future__ import annotations

import os
from typing import Any, Iterator, List

import pytest

from . import command, server
from .server import Server


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the settings, each as an option of the command line too."""
    group = parser.getgroup("shelfmark")
    group.addoption("--shelfmark-bin", metavar="FILE", help="the command shelfmark; else SHELFMARK_BIN, else PATH")
    group.addoption(
        "--shelfmark-data",
        metavar="PLACE",
        help="where the store is: memory (default), temporary (a folder that is removed), or a folder that stays",
    )
    parser.addini("shelfmark_bin", "the command shelfmark", default="")
    parser.addini("shelfmark_data", "memory, temporary, or a folder", default="")
    parser.addini("shelfmark_arguments", "further arguments of `shelfmark serve`, one a line", "linelist", default=[])


def setting(config: pytest.Config, name: str) -> str:
    """Returns a setting by the command line, else by the configuration file."""
    return config.getoption(f"--{name.replace('_', '-')}") or config.getini(name)


def started(config: pytest.Config) -> Server:
    """Starts a server as the settings say; a failure stops the tests that need it with one message."""
    arguments: List[str] = config.getini("shelfmark_arguments")
    data = setting(config, "shelfmark_data") or "memory"
    try:
        return server.start(setting(config, "shelfmark_bin") or None, data, arguments)
    except (command.CommandMissing, server.ServerError) as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def shelfmark(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A server for all tests of this process."""
    with started(pytestconfig) as running:
        yield running


@pytest.fixture
def shelfmark_empty(shelfmark: Server) -> Server:
    """The session's server, its tables empty when the test begins. The tables stay."""
    shelfmark.empty()
    return shelfmark


@pytest.fixture
def shelfmark_reset(shelfmark: Server) -> Server:
    """The session's server without any table or keyspace when the test begins."""
    shelfmark.reset()
    return shelfmark


@pytest.fixture
def shelfmark_fresh(pytestconfig: pytest.Config) -> Iterator[Server]:
    """A server of this test alone."""
    with started(pytestconfig) as running:
        yield running


@pytest.fixture(scope="session")
def shelfmark_environment(shelfmark: Server) -> Iterator[Server]:
    """Leads the AWS clients that the code under test makes by itself to the server, by the environment.

    Clients that were made before, and the default session of boto3 if it was used before, stay as they are.
    """
    before = {name: os.environ.get(name) for name in shelfmark.environment}
    os.environ.update(shelfmark.environment)
    try:
        yield shelfmark
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@pytest.fixture(scope="session")
def shelfmark_dynamodb(shelfmark: Server) -> Any:
    """A `boto3.resource("dynamodb")` of the session's server."""
    return client("boto3", "dynamodb").resource("dynamodb", **shelfmark.boto3_arguments)


@pytest.fixture(scope="session")
def shelfmark_dynamodb_client(shelfmark: Server) -> Any:
    """A `boto3.client("dynamodb")` of the session's server."""
    return client("boto3", "dynamodb").client("dynamodb", **shelfmark.boto3_arguments)


@pytest.fixture(scope="session")
def shelfmark_cql(shelfmark: Server) -> Iterator[Any]:
    """A session of cassandra-driver (or scylla-driver) with the session's server."""
    cluster = client("cassandra.cluster", "cql").Cluster(**shelfmark.cluster_arguments)
    try:
        yield cluster.connect()
    finally:
        cluster.shutdown()


def client(module: str, extra: str) -> Any:
    """Imports a client library, or says how to install it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        how = f"pip install 'pytest-shelfmark[{extra}]'"
        pytest.fail(f"This fixture needs {module}, which cannot be imported ({error}): {how}", pytrace=False)
