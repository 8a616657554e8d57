"""The living table: rows change all the time, and queries are asked beside it.

Events rows with a primary key and a btree on user_id. Two sessions of pgbench run
rounds (see bench.rounds) at a given rate; probes at intervals ask five queries in one
snapshot. Then the table rests, is probed once more, and its rows are loaded anew into
a table beside it. Heap and the systems of ours run one after the other, on a server
with autovacuum and workers of auto_compact.

Every result is compared: a twin in heap is brought to where the writers were in the
probe's snapshot, and asked the same.
"""

from __future__ import annotations

import itertools
import statistics
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from strata.cluster import WORKERS

from bench import rounds
from bench.bars_live import BYTES, OURS
from bench.compare import Result
from bench.dataset import Index
from bench.engines import PostgresEngine, QueryFailed, QueryTimeout
from bench.events import EVENTS_DATA
from bench.lab import Lab, pgbench
from bench.load import MB, create_table, digest, prewarm
from bench.progress import progress
from bench.report import cell_text
from bench.results import ERROR, WRONG, Cell
from bench.rounds import TABLE, WRITERS, percentile, read_log
from bench.sections import (
    AFTER,
    ANEW,
    AVERAGE,
    FRESH,
    LAG,
    LIVE,
    LIVE_WRITERS,
    OVER_TIME,
    P99,
    P999,
    WORST,
    WRITTEN,
)
from bench.systems import System
from bench.twin import Held, Probe, Twin, queries, take

DATA = replace(EVENTS_DATA, name=LIVE)
BASE = "live_base"  # database of the rows before and of the twin
INDEXES = (Index("(id)", primary=True), Index("btree (user_id)"))
REPEATS = 5  # of a query while nobody writes
SERVER = {"autovacuum": "on", "autovacuum_naptime": "15s"} | WORKERS
SETTINGS = {"synchronous_commit": "off"}


class Run:
    """One system's table, from its load to its end."""

    def __init__(self, lab: Lab, system: System) -> None:
        self.lab = lab
        self.system = system
        self.rounds = int(lab.config.live.minutes * 60 * lab.config.live.rate) // 2
        self.rounds = max(self.rounds, rounds.DELETE_EACH)
        self.probes: dict[str, Probe] = {}
        self.during: list[Probe] = []
        self.last: Result | None = None  # all rows at the end
        self.held = ""  # how a snapshot that was held open changed
        self.maintained = True  # by workers
        self.engine = self._load()

    def _cell(self, section: str, name: str, unit: str, value: float | None) -> Cell:
        cell = Cell(LIVE, section, name, self.system.name, unit)
        if value is not None:
            cell.samples.append(value)
        return self.lab.results.add(cell)

    def _load(self) -> PostgresEngine:
        database = self.lab.database(DATA, self.system)
        with self.lab.cluster.connect() as admin:
            admin.execute(
                f"CREATE DATABASE {database} TEMPLATE {BASE} STRATEGY file_copy"
            )
        engine = self.lab.engine(DATA, self.system)
        engine.rows("CREATE EXTENSION pg_prewarm")
        if self.system.extension:
            engine.rows(f"CREATE EXTENSION {self.system.extension}")
        self._fill(engine, TABLE, "base")
        engine.rows("DROP TABLE base")
        return engine

    def _fill(self, engine: PostgresEngine, table: str, source: str) -> None:
        create_table(engine, self.system, DATA, table)
        engine.rows(f"INSERT INTO {table} SELECT * FROM {source} ORDER BY {DATA.order}")
        for index in INDEXES:
            engine.rows(index.create(table))
        engine.rows(f"VACUUM (ANALYZE) {table}")
        engine.rows("CHECKPOINT")
        prewarm(engine, table)

    def _take(self, label: str, repeats: int = 1) -> Probe:
        rows, timeout = self.lab.config.rows, self.lab.config.timeout
        probe = take(self.engine, label, rows, timeout, repeats)
        progress(
            f"{LIVE}: {self.system.name}: {label}:",
            " · ".join(f"{name} {ms:.2f} ms" for name, ms in probe.times.items()),
            f"· {probe.bytes / MB:.1f} MB",
            *(note for _, note in probe.failed.values()),
        )
        return probe

    def _write(self) -> None:
        lab = self.lab
        path = lab.scratch / "live.sql"
        path.write_text(rounds.script(lab.config.rows))
        for old in lab.scratch.glob("live-log.*"):
            old.unlink()
        pgbench(
            lab.cluster,
            lab.database(DATA, self.system),
            "--protocol=prepared",
            "--define=n=0",
            f"--rate={lab.config.live.rate}",
            f"--transactions={self.rounds}",
            f"--file={path}",
            "--log",
            f"--log-prefix={lab.scratch / 'live-log'}",
            clients=WRITERS,
            settings=SETTINGS,
            timeout=600 + lab.config.live.minutes * 600,
        )

    def _hold(self, task: Future) -> None:
        """Hold a snapshot for the time asked for, or until the writers end."""
        engine = PostgresEngine(
            self.lab.cluster.dsn(self.lab.database(DATA, self.system))
        )
        engine.mode(0)
        try:
            held = Held(engine, self.lab.config.rows, self.lab.config.timeout)
            end = time.time() + self.lab.config.live.held
            while not task.done() and time.time() < end:
                time.sleep(0.05)
            self.held = held.end()
        finally:
            engine.close()

    def _probe_beside(self, task: Future, start: float) -> None:
        every = self.lab.config.live.probe
        for number in itertools.count(1):
            at = number * every
            while not task.done() and time.time() < start + at:
                time.sleep(0.05)
            if task.done():
                return
            if time.time() < start + at + every:
                self.during.append(self._take(f"{at:g} s"))

    def live(self) -> None:
        """Probe the fresh table, write and probe, rest, probe, load anew, probe."""
        for _ in range(2):  # the first reads what the session keeps
            self.probes[FRESH] = self._take(FRESH, REPEATS)
        start = time.time()
        with ThreadPoolExecutor(2) as pool:
            task = pool.submit(self._write)
            holder = (
                pool.submit(self._hold, task) if self.lab.config.live.held else None
            )
            self._probe_beside(task, start)
            if holder:
                holder.result()
            try:
                task.result()
            except RuntimeError as error:
                self.fail(str(error)[-500:])
                return
        self._writers(start)
        time.sleep(self.lab.config.live.rest)
        self.probes[AFTER] = self._take(AFTER, REPEATS)
        if self.system.name in OURS:
            [(steps,)] = self.engine.rows(
                f"SELECT compactions FROM {self.system.name}.stats"
                f" WHERE relation = '{TABLE}'::regclass"
            )
            self.maintained = steps > 0
        self.last = self.engine.timed(digest(TABLE).sql, self.lab.config.load_timeout)[
            0
        ]
        self.engine.rows("CREATE SCHEMA anew")
        self._fill(self.engine, f"anew.{TABLE}", TABLE)
        self.engine.configure(search_path="anew, public")
        for _ in range(2):
            self.probes[ANEW] = self._take(ANEW, REPEATS)

    def _writers(self, start: float) -> None:
        lines = itertools.chain.from_iterable(
            log.read_text().splitlines() for log in self.lab.scratch.glob("live-log.*")
        )
        log = read_log(lines, start)
        latencies = [latency for _, latency, _ in log]
        for name, value in (
            (AVERAGE, statistics.fmean(latencies)),
            (P99, percentile(latencies, 0.99)),
            (P999, percentile(latencies, 0.999)),
            (LAG, max(lag for _, _, lag in log)),
        ):
            self._cell(LIVE_WRITERS, name, "ms", value)
        rate = len(log) / max(end for end, _, _ in log)
        self._cell(LIVE_WRITERS, "rounds reached", "TPS", rate)
        every = self.lab.config.live.probe
        for number in range(1, int(max(end for end, _, _ in log) / every) + 1):
            part = [
                latency
                for end, latency, _ in log
                if (number - 1) * every <= end < number * every
            ]
            if part:
                self._cell(
                    f"writers' {P999}{OVER_TIME}",
                    f"{number * every:g} s",
                    "ms",
                    percentile(part, 0.999),
                )

    def compare(self) -> dict[str, str]:
        """How results of probes differ from the twin's, by the probe's label."""
        engine = PostgresEngine(self.lab.cluster.dsn(BASE))
        engine.mode(0)
        twin = Twin(engine, self.lab.config.rows)
        wrong = {}
        timeout = self.lab.config.load_timeout
        after = [p for label, p in self.probes.items() if label != FRESH]
        try:
            for probe in (self.probes[FRESH], *self.during, *after):
                if probe in after:
                    twin.end(self.rounds)
                else:
                    twin.follow(probe)
                for query, result in probe.results:
                    if difference := twin.differs(query, result, timeout):
                        wrong.setdefault(probe.label, difference)
            if self.last and (
                difference := twin.differs(digest(TABLE), self.last, timeout)
            ):
                wrong[AFTER] = difference
        finally:
            engine.close()
        return wrong

    def report(self, wrong: dict[str, str]) -> None:
        """Turn the probes into cells."""
        for name in queries(self.lab.config.rows):
            self._tell(f"{name}, ", name, "ms", lambda p, name=name: p.times.get(name))
            for probe in self.during:
                cell = self._cell(
                    name + OVER_TIME, probe.label, "ms", probe.times.get(name)
                )
                if name in probe.failed:
                    cell.status, cell.note = probe.failed[name]
                if probe.label in wrong:
                    cell.status, cell.note = WRONG, wrong[probe.label]
        self._tell("table, ", "table", "MB", lambda p: p.bytes / MB)
        share = {}
        for probe in self.during:
            self._cell(f"table{OVER_TIME}", probe.label, "MB", probe.bytes / MB)
            if probe.rows:
                share[probe.label] = probe.bytes / probe.rows
        fresh = self.probes[FRESH]
        if share and fresh.rows:
            worst = max(share.values()) / (fresh.bytes / fresh.rows)
            self._cell(LIVE, BYTES, "", worst)
        if self.held:
            wrong = wrong | {"held": self.held}
        if not self.maintained:
            wrong = wrong | {"maintenance": "no worker has compacted the table"}
        for label, difference in wrong.items():
            cell = self._cell(LIVE, f"results, {label}", "", None)
            cell.status, cell.note = WRONG, difference

    def _tell(self, prefix: str, name: str, unit: str, value) -> None:
        figures = [v for p in self.during if (v := value(p)) is not None]
        stages = {label: value(probe) for label, probe in self.probes.items()}
        lines = {FRESH: stages.get(FRESH)}
        if figures:
            lines |= {WRITTEN: statistics.median(figures), WORST: max(figures)}
        for label, figure in (lines | stages).items():
            cell = self._cell(LIVE, prefix + label, unit, figure)
            probe = self.probes.get(label)
            if probe and name in probe.failed:
                cell.status, cell.note = probe.failed[name]

    def fail(self, reason: str) -> None:
        """Say why there is no more of this system."""
        cell = self._cell(LIVE_WRITERS, AVERAGE, "ms", None)
        cell.status, cell.note = ERROR, reason

    def close(self) -> None:
        """Drop the table with its database."""
        self.lab.disconnect()
        with self.lab.cluster.connect() as admin:
            database = self.lab.database(DATA, self.system)
            admin.execute(f"DROP DATABASE {database} (FORCE)")


def _base(lab: Lab) -> None:
    with lab.cluster.connect() as admin:
        admin.execute(f"CREATE DATABASE {BASE}")
    with lab.cluster.connect(BASE) as base:
        base.execute(f"CREATE TABLE base ({DATA.ddl})")
        DATA.fill(
            base, "base", lab.config.rows, lambda text: progress(f"{LIVE}:", text)
        )
        base.execute("VACUUM (ANALYZE, FREEZE) base")


def run(lab: Lab) -> None:
    """Heap, and the systems of ours, one after the other."""
    _note(lab)
    with lab.server_with(**SERVER):
        _base(lab)
        for system in lab.keyed:
            one = Run(lab, system)
            try:
                one.live()
                one.engine.close()
                one.report(one.compare())
            except (QueryFailed, QueryTimeout) as reason:
                one.fail(str(reason))
            finally:
                one.close()
        with lab.cluster.connect() as admin:
            admin.execute(f"DROP DATABASE {BASE} (FORCE)")
    for name, cells in lab.results.table(LIVE, LIVE).items():
        heap = cells.get("heap")
        progress(
            f"{LIVE}: {name}:",
            " · ".join(f"{c.system} {cell_text(c, heap)}" for c in cells.values()),
        )


def _note(lab: Lab) -> None:
    asked = "\n".join(
        f"-- {query.name}\n{query.sql};"
        for some in queries(lab.config.rows).values()
        for query in some[:1]
    )
    lab.results.texts.append((f"{LIVE}: probes", asked))
    lab.results.texts.append((f"{LIVE}: writers", rounds.script(lab.config.rows)))
