"""Fixtures: the server, a cluster per worker, a database per test."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import tempfile
import zlib
from pathlib import Path

import pytest
from strata.cluster import Cluster
from strata.server import Server
from strata.twin import Twin

# The table access methods on the hybrid store: tests that use the fixture am,
# or twin, run for each of them.
STORE_AMS = ("colcompress", "rowcompress")

# The extension under test in the other files.
EXTENSION = "colcompress"

# The server that the extensions under test are installed in.
PG_CONFIG = os.environ.get("PG_CONFIG", "pg_config")

# Clusters that a test may have touched, so that their logs can be shown.
_clusters: list[Cluster] = []
_log_starts: dict[Cluster, int] = {}


def pytest_addoption(parser):
    parser.addoption(
        "--quick",
        action="store_true",
        help="leave out slow tests; of tests for both store formats run one",
    )
    parser.addoption("--seed", type=int, help="seed of tests that use random data")


def pytest_configure(config):
    installed = Server(PG_CONFIG)
    if not installed.has_extension(EXTENSION):
        raise pytest.UsageError(
            f"{EXTENSION} is not installed in {installed.sharedir}: use `make check`"
        )
    if getattr(config, "workerinput", None) is None and config.option.seed is None:
        config.option.seed = int(os.environ.get("SEED") or random.randrange(10**9))


def pytest_configure_node(node):
    node.workerinput["seed"] = node.config.option.seed


def pytest_report_header(config):
    return [
        f"server: PostgreSQL {Server(PG_CONFIG).version}, {PG_CONFIG}",
        f"seed: {config.option.seed} (repeat with SEED={config.option.seed})",
    ]


def is_left_out(item: pytest.Item) -> bool:
    """Whether `make check` leaves a test to `make check-all`: a slow one, and of
    a test that runs for both formats of the store the one whose turn it is not.
    A test's name says whose turn it is, so that half of a file's tests run for
    each, and every time the same."""
    if item.get_closest_marker("slow"):
        return True
    callspec = getattr(item, "callspec", None)
    am = callspec and callspec.params.get("am")
    if am not in STORE_AMS:
        return False
    turn = zlib.crc32(item.nodeid.replace(am, "").encode()) % len(STORE_AMS)
    return STORE_AMS[turn] != am


def pytest_collection_modifyitems(config, items):
    if config.option.quick:
        left_out = [item for item in items if is_left_out(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    # A test of a minute that begins last would have one worker, and no other.
    items.sort(key=lambda item: not any(map(item.get_closest_marker, ("long", "slow"))))


# ---- logs ----


@pytest.fixture(autouse=True)
def _watch_logs(request):
    """Fails a test during which a server process crashed."""
    for cluster in _clusters:
        _log_starts[cluster] = cluster.log_size()
    yield
    if request.node.get_closest_marker("crash"):
        return
    alarms = [line for c in _clusters for line in c.alarms_since(_log_starts.get(c, 0))]
    if alarms:
        pytest.fail(
            "a server process crashed:\n" + "\n".join(alarms[:20]), pytrace=False
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        for cluster in _clusters:
            text = cluster.log_since(_log_starts.get(cluster, 0))
            if text:
                report.sections.append(
                    (f"log of the server in {cluster.directory}", text)
                )
    return report


# ---- fixtures ----


@pytest.fixture(scope="session")
def seed(request) -> int:
    """Seed of this run; printed at its start."""
    worker = getattr(request.config, "workerinput", None)
    return worker["seed"] if worker else request.config.option.seed


@pytest.fixture
def rng(seed, request) -> random.Random:
    """Random numbers that depend on the run's seed and the test's name only."""
    return random.Random(f"{seed}/{request.node.nodeid}")


@pytest.fixture(scope="session")
def server() -> Server:
    return Server(PG_CONFIG)


@pytest.fixture(scope="session")
def workdir(worker_id):
    """A directory that the server's user can read, removed at the end."""
    base = os.environ.get("STRATA_WORK")
    path = Path(tempfile.mkdtemp(prefix=f"{worker_id}-", dir=base) if base
                else tempfile.mkdtemp(prefix="strata-tests-", dir="/tmp"))  # fmt: skip
    path.chmod(0o755)
    yield path
    if not os.environ.get("KEEP"):
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="session")
def pristine(server, workdir) -> Cluster:
    """A cluster that never runs: what others are copied from."""
    return Cluster(server, workdir / "pristine").init()


def _add(cluster: Cluster) -> Cluster:
    _clusters.append(cluster)
    _log_starts[cluster] = 0
    return cluster


@pytest.fixture(scope="session")
def cluster(server, workdir, pristine):
    """The worker's cluster, shared by its tests."""
    cluster = _add(Cluster(server, workdir / "main").init(like=pristine))
    try:
        cluster.start()
        with cluster.connect() as conn:
            conn.execute("CREATE DATABASE strata_template")
        with cluster.connect("strata_template") as conn:
            for extension in STORE_AMS:
                if server.has_extension(extension):
                    conn.execute(f"CREATE EXTENSION {extension}")
        yield cluster
    finally:
        _clusters.remove(cluster)
        if not os.environ.get("KEEP"):
            cluster.remove()
        elif cluster.postmaster():
            cluster.stop()


@contextlib.contextmanager
def _made_clusters(server, workdir, pristine, request):
    """The factory behind make_cluster; its clusters go when the test has ended."""
    made: list[Cluster] = []

    def make(
        name: str = "own",
        *,
        start: bool = True,
        data: bool = True,
        server: Server = server,
        **settings,
    ) -> Cluster:
        directory = workdir / f"{len(list(workdir.iterdir()))}-{name}"
        cluster = _add(Cluster(server, directory, settings))
        made.append(cluster)
        if data:
            cluster.init(like=pristine)
        return cluster.start() if start and data else cluster

    yield make
    alarms = [line for cluster in made for line in cluster.alarms_since(0)]
    for cluster in made:
        _clusters.remove(cluster)
        cluster.remove()
    if alarms and not request.node.get_closest_marker("crash"):
        pytest.fail(
            "a server process crashed:\n" + "\n".join(alarms[:20]), pytrace=False
        )


@pytest.fixture
def make_cluster(server, workdir, pristine, request):
    """Factory of clusters of the test's own: make_cluster("name", setting=value)
    returns a started one; they are removed after the test.  Without `data` it
    has no data directory yet: a backup will be put there."""
    with _made_clusters(server, workdir, pristine, request) as make:
        yield make


@pytest.fixture(scope="module")
def make_module_cluster(server, workdir, pristine, request):
    """The same for clusters that the tests of a file share."""
    with _made_clusters(server, workdir, pristine, request) as make:
        yield make


class Database:
    """A database of a cluster with connections that end with it."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self.cluster = cluster
        self.name = name
        self._stack = contextlib.ExitStack()

    def connect(self, **kwargs):
        return self._stack.enter_context(
            contextlib.closing(self.cluster.connect(self.name, **kwargs))
        )

    def close(self) -> None:
        self._stack.close()


_numbers = iter(range(1, 10**9))


@contextlib.contextmanager
def _database(cluster: Cluster, template: str = "strata_template"):
    name = f"t{next(_numbers)}"
    cluster.wait_ready()
    with cluster.connect() as admin:
        admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    database = Database(cluster, name)
    try:
        yield database
    finally:
        database.close()
        if cluster.postmaster():
            cluster.wait_ready()
            with cluster.connect() as admin:
                for (gid,) in admin.execute(
                    "SELECT gid FROM pg_prepared_xacts WHERE database = %s", [name]
                ).fetchall():
                    with cluster.connect(name) as conn:
                        conn.execute(f"ROLLBACK PREPARED '{gid}'")
                admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def db(cluster):
    """A fresh database with the extension."""
    with _database(cluster) as database:
        yield database


@pytest.fixture
def conn(db):
    """A connection to the test's database, in autocommit mode."""
    return db.connect()


@pytest.fixture(scope="module")
def module_db(cluster):
    """A database that the tests of a file share: for many small tests that
    drop what they make or use names of their own."""
    with _database(cluster) as database:
        yield database


@pytest.fixture(scope="session", params=STORE_AMS)
def am(request, server) -> str:
    """Each table access method on the hybrid store that is installed."""
    if not server.has_extension(request.param):
        pytest.skip(f"{request.param} is not installed")
    return request.param


@pytest.fixture
def twin(db, am) -> Twin:
    """A table access method beside heap: see strata.twin."""
    return Twin(db, am)
