"""The laboratory of one run: cluster, databases, engines, results.

Each PostgreSQL system has a database of its own per data set, made from a
template that holds the rows once, in a heap table `base`. DuckDB has a file
per data set, loaded from the CSV that PostgreSQL wrote of `base`.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg

from bench.clickhouse import ClickHouseEngine
from bench.config import Config
from bench.dataset import Dataset, Query
from bench.duck import DuckDBEngine
from bench.engines import Engine, PostgresEngine
from bench.events import EVENTS_DATA
from bench.flights import FLIGHTS_DATA
from bench.measure import judge, measure
from bench.progress import progress
from bench.report import cell_text
from bench.results import ERROR, Cell, Results
from bench.systems import CLICKHOUSE, DECLARED, HEAP, System

DATASETS = {"events": EVENTS_DATA, "flights": FLIGHTS_DATA}


def server_settings(
    config: Config, memory: int, preload: list[str]
) -> dict[str, str | None]:
    """Server parameters of the run; None leaves the server's own default.

    memory   the machine's, in bytes
    preload  libraries to load at the server's start

    shared_buffers is 4 GB where that is at most a quarter of the memory.
    Autovacuum is off because its moments would hit systems by chance: every
    table is vacuumed and analyzed once after its load.
    """
    buffers = min(4096, memory // 4 // 2**20)
    return {
        "shared_buffers": f"{buffers}MB",
        "work_mem": "256MB",
        "maintenance_work_mem": "512MB",
        "effective_cache_size": f"{memory * 3 // 4 // 2**20}MB",
        "fsync": "on",
        "dynamic_shared_memory_type": None,
        "max_wal_size": "8GB",
        "checkpoint_timeout": "30min",
        "autovacuum": "off",
        "synchronize_seqscans": "off",
        "max_parallel_workers": str(max(8, config.workers)),
        "max_worker_processes": str(max(8, config.workers)),
        "shared_preload_libraries": ",".join(preload) or None,
    }


def memory_bytes() -> int:
    """The machine's memory."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/meminfo does not name MemTotal")


def pgbench(
    cluster,
    database: str,
    *options: str,
    clients: int = 1,
    settings: dict[str, str] | None = None,
    timeout: float = 600,
) -> tuple[float, int]:
    """Run pgbench; transactions per second without connection time, and how
    many there were. RuntimeError with what pgbench said if it fails.

    clients   sessions; 0: no transactions are run (pgbench fills its tables)
    settings  server parameters of its sessions
    """
    load = ["--no-vacuum", f"--client={clients}"]
    load.append(f"--jobs={min(clients, os.cpu_count() or 1)}")
    session = " ".join(f"-c {name}={value}" for name, value in (settings or {}).items())
    output = cluster.run(
        "pgbench",
        *(load if clients else ()),
        *options,
        f"{cluster.dsn(database)} options='{session}'",
        timeout=timeout,
    ).stdout
    if not clients:
        return 0.0, 0
    rate = re.search(r"^tps = ([0-9.]+)", output, re.M)
    number = re.search(r"actually processed: ([0-9]+)", output)
    if rate is None or number is None:
        raise RuntimeError(output)
    return float(rate.group(1)), int(number.group(1))


class Lab:
    """What the steps of a run share.

    cluster  a running server; see the tests' cluster helper
    scratch  a directory that the server and this process can both write
    """

    def __init__(
        self,
        config: Config,
        cluster,
        scratch: Path,
        systems: list[System],
        results: Results,
    ) -> None:
        self.config = config
        self.cluster = cluster
        self.scratch = scratch
        self.systems = systems
        self.results = results
        self._engines: dict[tuple[str, str], Engine] = {}
        results.systems = [system.name for system in systems]

    @property
    def postgres(self) -> list[System]:
        """The systems that are PostgreSQL access methods."""
        return [system for system in self.systems if system.postgres]

    @property
    def keyed(self) -> list[System]:
        """Heap and the systems of ours, which get the key indexes."""
        return [s for s in self.systems if s.ours or s.name == HEAP]

    def csv(self, dataset: Dataset) -> Path:
        """The CSV file of the data set's rows."""
        return self.scratch / f"{dataset.name}.csv"

    def database(self, dataset: Dataset, system: System | None) -> str:
        """Name of a system's database; None: of the template."""
        return f"{dataset.name}_{system.name if system else 'base'}"

    def engine(self, dataset: Dataset, system: System) -> Engine:
        """The system's open connection to its database of the data set."""
        key = (dataset.name, system.name)
        if key not in self._engines:
            self._engines[key] = self._open(dataset, system)
        return self._engines[key]

    def _open(self, dataset: Dataset, system: System) -> Engine:
        if system.name in (CLICKHOUSE, DECLARED):
            path = self.scratch / f"{dataset.name}.{system.name}"
            return ClickHouseEngine(path, declared=system.name == DECLARED)
        if not system.postgres:
            return DuckDBEngine(self.scratch / f"{dataset.name}.duckdb")
        engine = PostgresEngine(self.cluster.dsn(self.database(dataset, system)))
        engine.mode(0)
        return engine

    def engines(
        self, dataset: Dataset, systems: list[System] | None = None
    ) -> dict[str, Engine]:
        """Engines by system name, for all systems or some."""
        return {
            system.name: self.engine(dataset, system)
            for system in systems or self.systems
        }

    def measure(
        self, dataset: Dataset, engines: dict[str, Engine], query: Query, section: str
    ) -> None:
        """Compare and time a query on the engines; keep, show and judge it."""
        cells = measure(query, engines, self.config, dataset.name, section)
        for cell in cells:
            self.results.add(cell)
        heap = next(cell for cell in cells if cell.system == HEAP)
        progress(
            f"{dataset.name}: {section}: {query.name}:",
            " · ".join(f"{c.system} {cell_text(c, heap)}" for c in cells),
        )
        judge(self.systems, cells)

    def pgbench(
        self,
        cell: Cell,
        database: str,
        *options: str,
        script: str = "",
        clients: int = 1,
        settings: dict[str, str] | None = None,
    ) -> float | None:
        """Run pgbench with a script of this text, if any, and add its rate to the
        cell; without a rate the cell's status is ERROR, its note says why."""
        files = []
        if script:
            path = self.scratch / "pgbench.sql"
            path.write_text(script)
            files = ["--protocol=prepared", f"--file={path}"]
        try:
            rate, _ = pgbench(
                self.cluster,
                database,
                *files,
                *options,
                clients=clients,
                settings=settings,
                timeout=self.config.load_timeout,
            )
        except RuntimeError as error:
            cell.status, cell.note = ERROR, str(error)[-500:]
            return None
        cell.samples.append(rate)
        return rate

    def setup(self, dataset: Dataset, rows_stay: bool = True) -> None:
        """Make the rows, their CSV file and a database per system, each with
        the rows in `base` if they stay."""
        template = self.database(dataset, None)
        with self._admin("postgres") as admin:
            admin.execute(f"CREATE DATABASE {template}")
        with self._admin(template) as base:
            base.execute(f"CREATE TABLE base ({dataset.ddl})")
            dataset.fill(
                base,
                "base",
                self.config.rows,
                lambda text: progress(f"{dataset.name}:", text),
            )
            base.execute("VACUUM (ANALYZE, FREEZE) base")
            base.execute(f"COPY base TO '{self.csv(dataset)}' (FORMAT csv)")
            if not rows_stay:
                base.execute("DROP TABLE base")
        for system in self.postgres:
            self.create_database(
                dataset, system, f"TEMPLATE {template} STRATEGY file_copy"
            )
        with self._admin("postgres") as admin:
            admin.execute(f"DROP DATABASE {template}")

    def create_database(
        self, dataset: Dataset, system: System, options: str = ""
    ) -> None:
        """Make a system's database, with its extension."""
        name = self.database(dataset, system)
        with self._admin("postgres") as admin:
            admin.execute(f"CREATE DATABASE {name} {options}")
        with self._admin(name) as own:
            own.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm")
            if system.extension:
                own.execute(f"CREATE EXTENSION {system.extension}")
        progress(f"{dataset.name}: database of {system.name} made")

    def _admin(self, database: str) -> psycopg.Connection:
        return psycopg.connect(self.cluster.dsn(database), autocommit=True)

    def discard(self, dataset: Dataset) -> None:
        """Close and drop everything of the data set."""
        for key in [k for k in self._engines if k[0] == dataset.name]:
            self._engines.pop(key).close()
        with self._admin("postgres") as admin:
            for system in self.postgres:
                admin.execute(
                    f"DROP DATABASE IF EXISTS {self.database(dataset, system)} (FORCE)"
                )
        self.csv(dataset).unlink(missing_ok=True)
        (self.scratch / f"{dataset.name}.duckdb").unlink(missing_ok=True)

    def disconnect(self) -> None:
        """Close all engines; they are opened again when they are asked for."""
        for engine in self._engines.values():
            engine.close()
        self._engines.clear()

    @contextlib.contextmanager
    def server_with(self, **settings: str | None) -> Iterator[None]:
        """The server restarted with other parameters, and with its own afterwards."""
        before = dict(self.cluster.settings)
        self.disconnect()
        self.cluster.configure(**settings)
        self.cluster.restart()
        try:
            yield
        finally:
            self.disconnect()
            self.cluster.settings = before
            self.cluster.restart()

    def close(self) -> None:
        """Close all engines and remove the scratch directory."""
        self.disconnect()
        shutil.rmtree(self.scratch, ignore_errors=True)
