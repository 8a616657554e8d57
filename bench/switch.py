"""A heap table that becomes one of ours, and heap again, beside four writers.

Events rows with a primary key, btrees on two columns and GIN indexes on two, foreign
keys from the table and to it, a trigger, in a publication. Four sessions of pgbench
update rows by key, insert rows, and insert rows that refer to it, at a given rate, all
the time: alone, beside a session that only computes, beside adopt(), beside merge(),
beside release(). The latter two rest a millisecond for SWITCH_COST units of cost
(vacuum_cost_delay, vacuum_cost_limit), in many short rests.

What is measured: how long adopt() takes, the writers' latency, the sizes and their
peaks. What is checked: no statement of the writers fails; each change that they made is
there once; fingerprints of all columns that they leave alone are those of the heap
table, after merge() and after release().
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import psycopg

from bench.bars_live import OURS
from bench.events import EVENTS_DATA, GIN, SINGLE_ROW
from bench.lab import Lab, pgbench
from bench.load import MB
from bench.progress import progress
from bench.report import cell_text
from bench.results import WRONG, Cell
from bench.rounds import percentile, read_log
from bench.sections import ADOPT, BESIDE_ADOPT, PEAK, PERCENTILE, SWITCH
from bench.systems import System

DATABASE = "bench_switch"
WRITERS = 4
ALONE = 30  # seconds of the writers before anything is done
RESTS_PER_MS = 5
SLICE = 10  # seconds of one run of pgbench, whose log is read at its end

SCHEMA = (
    "CREATE TABLE users (id bigint PRIMARY KEY)",
    "INSERT INTO users SELECT generate_series(1, 50000)",
    "CREATE FUNCTION touched() RETURNS trigger LANGUAGE plpgsql AS"
    " 'BEGIN NEW.duration_ms := OLD.duration_ms + 1; RETURN NEW; END'",
)
TABLE = (
    "ALTER TABLE switch ADD PRIMARY KEY (id)",
    "CREATE INDEX ON switch (event_date)",
    "CREATE INDEX ON switch (user_id)",
    *(index.create("switch") for index in GIN),
    "ALTER TABLE switch ADD FOREIGN KEY (user_id) REFERENCES users",
    "CREATE TABLE notes (id bigint REFERENCES switch)",
    "CREATE INDEX ON notes (id)",
    "CREATE TRIGGER touched BEFORE UPDATE ON switch FOR EACH ROW"
    " EXECUTE FUNCTION touched()",
    "CREATE PUBLICATION switch FOR TABLE switch",
    "VACUUM (ANALYZE) switch",
)

# To make a new file for WAL stops all writers for tens of milliseconds. A server that
# has been at work for a while uses old ones again.
WAL_KEPT = 6 * 1024  # MB
WAL_FILES = (
    "DO $$ BEGIN FOR i IN 1 .. {} LOOP"
    " PERFORM pg_logical_emit_message(false, '', ''), pg_switch_wal();"
    " END LOOP; END $$",
    "CHECKPOINT",
    "CHECKPOINT",
)
CHANGED = ("quantity", "duration_ms")
COMPUTE = "SELECT count(md5(i::text)) FROM (SELECT generate_series(1, 10000000000) i) s"


class Writers:
    """The writers, from the start of the context to its end."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.done: Counter = Counter()  # transactions by script
        # end; in milliseconds latency, and how long no session was free to begin
        self.log: list[tuple[float, float, float]] = []
        self._ends = threading.Event()
        scripts = {
            "update": f"\\set k random(1, {lab.config.rows})\n"
            "UPDATE switch SET quantity = quantity + 1 WHERE id = :k;\n",
            "insert": f"INSERT INTO switch VALUES ({SINGLE_ROW});\n",
            "refer": f"\\set k random(1, {lab.config.rows})\n"
            "INSERT INTO notes VALUES (:k);\n",
        }
        self.scripts = list(scripts)
        for name, text in scripts.items():
            (lab.scratch / f"switch-{name}.sql").write_text(text)

    @contextmanager
    def running(self) -> Iterator[Writers]:
        """They write until the context ends, which raises what made them fail."""
        self._ends.clear()
        with ThreadPoolExecutor(1) as pool:
            task = pool.submit(self._write)
            try:
                yield self
            finally:
                self._ends.set()
                task.result()

    def _write(self) -> None:
        prefix = self.lab.scratch / "switch-log"
        share = {"update": 4, "insert": 1, "refer": 1}
        while not self._ends.is_set():
            pgbench(
                self.lab.cluster,
                DATABASE,
                "--protocol=prepared",
                f"--rate={self.lab.config.switch_rate}",
                f"--time={SLICE}",
                *(
                    f"--file={self.lab.scratch / f'switch-{name}.sql'}@{share[name]}"
                    for name in self.scripts
                ),
                "--log",
                f"--log-prefix={prefix}",
                clients=WRITERS,
                timeout=self.lab.config.load_timeout,
            )
            for log in self.lab.scratch.glob("switch-log.*"):
                lines = log.read_text().splitlines()
                self.done.update(self.scripts[int(line.split()[3])] for line in lines)
                self.log += [
                    (end, latency - lag, lag)
                    for end, latency, lag in read_log(lines, 0)
                ]
                log.unlink()

    def between(self, first: float, last: float) -> tuple[list[float], list[float]]:
        """Latencies and lags of the transactions that ended in that time."""
        found = [(own, lag) for end, own, lag in self.log if first <= end <= last]
        return [own for own, _ in found], [lag for _, lag in found]


class Sizes:
    """The largest that the table, alone and with its indexes, becomes."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.table = self.total = 0
        self._ends = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[Sizes]:
        """Look ten times a second until the context ends."""
        with ThreadPoolExecutor(1) as pool:
            task = pool.submit(self._look)
            try:
                yield self
            finally:
                self._ends.set()
                task.result()

    def _look(self) -> None:
        with self.lab.cluster.connect(DATABASE) as connection:
            while not self._ends.wait(0.1):
                table, total = sizes(connection)
                self.table = max(self.table, table)
                self.total = max(self.total, total)


def sizes(connection: psycopg.Connection) -> tuple[int, int]:
    """Bytes of the table, and of it with its indexes."""
    row = connection.execute(
        "SELECT pg_table_size('switch'), pg_total_relation_size('switch')"
    ).fetchone()
    return row[0], row[1]


class Run:
    """One access method's way from heap and back."""

    def __init__(self, lab: Lab, system: System) -> None:
        self.lab = lab
        self.system = system
        self.writers = Writers(lab)
        self.phases: dict[str, tuple[float, float]] = {}

    def _cell(self, name: str, unit: str, *values: float) -> Cell:
        cell = Cell(SWITCH, SWITCH, name, self.system.name, unit, list(values))
        progress(f"{SWITCH}: {name}:", self.system.name, cell_text(cell, None))
        return self.lab.results.add(cell)

    @contextmanager
    def _phase(self, name: str) -> Iterator[None]:
        start = time.time()
        yield
        self.phases[name] = (start, time.time())

    def _size(self, connection: psycopg.Connection, stage: str) -> None:
        table, total = sizes(connection)
        self._cell(f"table, {stage}", "MB", table / MB)
        self._cell(f"table and indexes, {stage}", "MB", total / MB)

    def _fingerprint(self, connection: psycopg.Connection) -> dict[str, str]:
        """Of the columns that the writers leave alone, without their rows."""
        connection.execute(f"DELETE FROM switch WHERE id > {self.lab.config.rows}")
        found = connection.execute(
            f"SELECT * FROM {self.system.name}.fingerprint('switch')"
        ).fetchall()
        return {
            name: str(value)
            for name, value in found
            if name is not None and name not in CHANGED
        }

    def _check(self, connection: psycopg.Connection, before: dict, stage: str) -> None:
        done = self.writers.done
        rows = self.lab.config.rows
        found = connection.execute(
            f"SELECT count(*) FILTER (WHERE id <= {rows}),"
            f" count(*) FILTER (WHERE id > {rows}),"
            f" sum(quantity - (id % 100 + 1)) FILTER (WHERE id <= {rows})"
            " FROM switch"
        ).fetchone()
        expected = (rows, done["insert"], done["update"])
        wrong = f"{found} for {expected}" if found != expected else ""
        done["insert"] = 0
        if self._fingerprint(connection) != before:
            wrong += " fingerprints differ"
        if wrong:
            cell = self._cell(f"contents, {stage}", "")
            cell.status, cell.note = WRONG, wrong

    def go(self) -> None:
        """From heap and back."""
        am = self.system.name
        with self.lab.cluster.connect(DATABASE) as connection:
            self._load(connection)
            before = self._fingerprint(connection)
            self._size(connection, "heap")
            heap = sizes(connection)
            with Sizes(self.lab).watched() as peak, self.writers.running():
                time.sleep(SLICE)  # caches
                with self._phase("alone"):
                    time.sleep(ALONE)
                with self._phase("computing"):
                    self._compute(connection)
                with self._phase("adopt"):
                    connection.execute(f"SELECT {am}.adopt('switch')")
                time.sleep(1)
                self._set_pace(connection)
                with self._phase("merge"):
                    connection.execute(f"CALL {am}.merge('switch')")
            self._peak(peak, heap, "merge")
            self._size(connection, "merged")
            self._check(connection, before, "merged")
            with (
                Sizes(self.lab).watched() as peak,
                self.writers.running(),
                self._phase("release"),
            ):
                connection.execute(f"CALL {am}.release('switch')")
            self._peak(peak, heap, "release")
            self._size(connection, "released")
            self._check(connection, before, "released")
        start, end = self.phases.pop("adopt")
        self._cell(ADOPT, "ms", (end - start) * 1000)
        # What stood behind its lock may end after it.
        stood, _ = self.writers.between(start, end + 0.2)
        self._cell(BESIDE_ADOPT, "ms", max(stood, default=0))
        for name, (start, end) in self.phases.items():
            if name in ("merge", "release"):
                self._cell(f"{name}, time", "s", end - start)
            own, lags = self.writers.between(start, end)
            beside = name if name == "alone" else f"beside {name}"
            self._cell(PERCENTILE.format(beside), "ms", percentile(own, 0.99))
            late = f"writers {beside}: late, 99th percentile"
            self._cell(late, "ms", percentile(lags, 0.99))
            self._cell(f"writers {beside}: rate", "TPS", len(own) / (end - start))

    def _compute(self, connection: psycopg.Connection) -> None:
        """What any neighbour does to the writers that wants a processor alone."""
        connection.execute(f"SET statement_timeout = '{ALONE}s'")
        with suppress(psycopg.errors.QueryCanceled):
            connection.execute(COMPUTE)
        connection.execute("RESET statement_timeout")

    def _set_pace(self, connection: psycopg.Connection) -> None:
        connection.execute(f"SET vacuum_cost_delay = '{1 / RESTS_PER_MS}ms'")
        limit = max(1, self.lab.config.switch_cost // RESTS_PER_MS)
        connection.execute(f"SET vacuum_cost_limit = {limit}")

    def _peak(self, peak: Sizes, heap: tuple[int, int], command: str) -> None:
        most = f"most beside {command}, of heap's"
        self._cell(f"table, {most}", "", peak.table / heap[0])
        self._cell(PEAK.format(command), "", peak.total / heap[1])

    def _load(self, connection: psycopg.Connection) -> None:
        rows = self.lab.config.rows
        connection.execute(f"CREATE EXTENSION {self.system.extension}")
        for statement in SCHEMA:
            connection.execute(statement)
        connection.execute(f"CREATE SEQUENCE single_id START {rows + 1}")
        connection.execute(f"CREATE TABLE switch ({EVENTS_DATA.ddl}) USING heap")
        EVENTS_DATA.fill(
            connection, "switch", rows, lambda text: progress(f"{SWITCH}:", text)
        )
        for statement in TABLE:
            connection.execute(statement)
        for statement in WAL_FILES:
            connection.execute(statement.format(WAL_KEPT // 16))
        progress(f"{SWITCH}: {self.system.name}: indexes and keys made")


def run(lab: Lab) -> None:
    """Each system of ours that can adopt and compress, one after the other."""
    with lab.server_with(
        wal_level="logical", autovacuum="on", min_wal_size=f"{WAL_KEPT}MB"
    ):
        for system in lab.keyed:
            if system.name not in OURS:
                continue
            with lab.cluster.connect() as admin:
                admin.execute(f"CREATE DATABASE {DATABASE}")
            try:
                Run(lab, system).go()
            finally:
                with lab.cluster.connect() as admin:
                    admin.execute(f"DROP DATABASE {DATABASE} (FORCE)")
