"""The session's laboratory, made at its start and cleaned up at its end."""

from __future__ import annotations

import datetime
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from strata.cluster import Cluster, running
from strata.server import Server

from bench import site, verdict
from bench.charts import draw
from bench.config import SUMMARY, Config, from_environment
from bench.lab import Lab, memory_bytes, server_settings
from bench.machine import describe
from bench.progress import say
from bench.report import document, terminal, write_csv, write_json
from bench.results import Results
from bench.systems import System, UnknownSystem, choose, provider

RESULTS = pytest.StashKey[tuple[Results, Path]]()


def pytest_configure(config: pytest.Config) -> None:
    """SIGTERM ends the run as Ctrl-C does, clean-up included."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_report_teststatus(report, config):
    """No dots between the progress lines."""
    if report.when == "call" and report.passed:
        return "passed", "", "PASSED"
    return None


@pytest.fixture(scope="session")
def lab(request):
    """A running server with the systems asked for; the report at the end."""
    config = from_environment()
    server = Server(os.environ.get("PG_CONFIG", "pg_config"))
    try:
        scripts = server.sharedir / "extension"
        systems = choose(
            config.systems, server.has_extension, lambda am: provider(scripts, am)
        )
    except UnknownSystem as problem:
        pytest.exit(f"SYSTEMS: {problem}", returncode=2)
    work = os.environ.get("STRATA_WORK")
    directory = Path(tempfile.mkdtemp(prefix="strata-bench-", dir=work))
    results = Results()
    try:
        with _cluster(server, directory, config, systems) as cluster:
            with cluster.connect() as connection:
                results.meta = describe(config, connection, systems)
            scratch = server.own(directory / "scratch")
            laboratory = Lab(config, cluster, scratch, systems, results)
            say(f"PostgreSQL {server.version}: {', '.join(results.systems)}")
            try:
                yield laboratory
            finally:
                laboratory.close()
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        if results.cells:
            request.config.stash[RESULTS] = (results, _write(config, results))


def _cluster(server: Server, directory: Path, config: Config, systems: list[System]):
    """A cluster of the run's settings, removed at the end of the context."""
    preload = sorted({s.extension for s in systems if s.preload})
    settings = server_settings(config, memory_bytes(), preload)
    directory.chmod(0o755)
    return running(Cluster(server, directory / "cluster", settings).init())


def _write(config: Config, results: Results) -> Path:
    """Write all files of the report; returns their directory."""
    now = datetime.datetime.now()
    folder = config.results / f"{now:%Y%m%d-%H%M%S}"
    folder.mkdir(parents=True)
    write_csv(results, folder / "results.csv")
    write_json(results, folder / "results.json")
    site.write(results, folder, f"{now:%Y-%m-%d}")
    charts = draw(results, folder)
    (folder / "report.md").write_text(document(results, charts))
    latest = config.results / "latest"
    latest.unlink(missing_ok=True)
    latest.symlink_to(folder.name)
    return folder


def pytest_terminal_summary(terminalreporter, config) -> None:
    """The verdict, all tables but for the summary's, and where the report is."""
    if RESULTS not in config.stash:
        return
    results, folder = config.stash[RESULTS]
    whole = SUMMARY in from_environment().datasets
    terminalreporter.write_line("")
    terminalreporter.write_line(verdict.text(results) if whole else terminal(results))
    terminalreporter.write_line("")
    terminalreporter.write_line(f"Report: {os.path.relpath(folder)}/report.md")
