"""Whole test runs with the plugin: settings, workers, failures, and the package as it is installed."""

import os
import pathlib
import subprocess
import sys

import pytest
from flit_core import buildapi

PACKAGE = pathlib.Path(__file__).parent.parent


def test_a_missing_command_fails_the_test_with_one_message(pytester, monkeypatch):
    pytester.makepyfile("def test_it(shelfmark): pass")
    outcome = pytester.runpytest_subprocess("-p", "pytest_shelfmark.plugin", "--shelfmark-bin", "nowhere")
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(["*the argument names 'nowhere', which is no program*"])
    outcome.stdout.no_fnmatch_line("*Traceback*")


def test_settings_of_the_file_reach_the_server(pytester):
    pytester.makeini("[pytest]\nshelfmark_data = here\nshelfmark_arguments =\n    --cors\n    http://example.com\n")
    pytester.makepyfile(
        """
        def test_it(shelfmark):
            import os, urllib.request
            assert os.path.isdir("here")
            call = urllib.request.Request(shelfmark.endpoint_url, headers={"Origin": "http://example.com"})
            assert urllib.request.urlopen(call).headers["Access-Control-Allow-Origin"] == "http://example.com"
        """
    )
    pytester.runpytest_subprocess("-p", "pytest_shelfmark.plugin").assert_outcomes(passed=1)


def test_each_worker_has_a_server_of_its_own(pytester):
    pytester.makepyfile(
        """
        import pathlib, pytest
        @pytest.mark.parametrize("n", range(8))
        def test_it(shelfmark, worker_id, n):
            with pathlib.Path("seen").open("a") as seen:
                seen.write(f"{worker_id} {shelfmark.endpoint_url}\\n")
        """
    )
    pytester.runpytest_subprocess("-p", "pytest_shelfmark.plugin", "-n", "2").assert_outcomes(passed=8)
    seen = {tuple(line.split()) for line in (pytester.path / "seen").read_text().splitlines()}
    assert len(seen) == len({worker for worker, _ in seen}) == len({url for _, url in seen})


def test_the_environment_is_put_back(pytester, monkeypatch):
    monkeypatch.setenv("AWS_REGION", "before")
    monkeypatch.delenv("CQL_PORT", raising=False)
    pytester.makeconftest(
        """
        import os
        def pytest_unconfigure():
            print("REGION", os.environ["AWS_REGION"], "PORT", os.environ.get("CQL_PORT"))
        """
    )
    pytester.makepyfile(
        """
        import os
        def test_it(shelfmark_environment):
            assert os.environ["CQL_PORT"] == str(shelfmark_environment.cql_port)
        """
    )
    outcome = pytester.runpytest_subprocess("-p", "pytest_shelfmark.plugin", "-s")
    outcome.assert_outcomes(passed=1)
    outcome.stdout.fnmatch_lines(["*REGION before PORT None"])


def test_the_wheel_has_the_plugin_the_types_and_the_licences(tmp_path, monkeypatch):
    monkeypatch.chdir(PACKAGE)
    wheel = tmp_path / buildapi.build_wheel(str(tmp_path))
    installed = tmp_path / "installed"
    words = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(installed), str(wheel)]
    subprocess.run([sys.executable, *words], check=True)
    (metadata,) = installed.glob("pytest_shelfmark-*.dist-info")
    assert {path.name for path in metadata.glob("**/LICENSE-*")} == {"LICENSE-MIT", "LICENSE-APACHE"}
    assert (installed / "pytest_shelfmark" / "py.typed").exists()
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "test_one_line.py").write_text("def test_it(shelfmark): assert shelfmark.cql_port\n")
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    # By its entry point alone: no `-p` names it.
    subprocess.run([sys.executable, "-m", "pytest", "-q", "."], cwd=suite, env=environment, check=True)


@pytest.mark.parametrize("name", ["LICENSE-MIT", "LICENSE-APACHE"])
def test_the_licences_are_those_of_the_repository(name):
    assert (PACKAGE / name).read_bytes() == (PACKAGE.parent.parent / name).read_bytes()
