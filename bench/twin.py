"""Probes of the data set "live", and the twin in heap that checks what they found."""

from __future__ import annotations

import datetime
import statistics
from dataclasses import dataclass, field, replace

from bench import rounds
from bench.compare import Mismatch, Result, compare
from bench.dataset import Query
from bench.engines import PostgresEngine, QueryFailed, QueryTimeout
from bench.results import ERROR, TIMEOUT
from bench.rounds import TABLE, WRITERS, Position
from bench.sections import LIVE_INDEX

RANGES = 5  # of rows by key that one probe reads


def queries(rows: int) -> dict[str, list[Query]]:
    """What a probe asks, by the report's names."""
    middle = datetime.date(2024, 1, 1) + datetime.timedelta(days=rows // 2 // 2880)
    simple = {
        "sum": f"SELECT count(*), sum(amount) FROM {TABLE}",
        "group": "SELECT event_type, count(*), sum(amount), avg(duration_ms)"
        f" FROM {TABLE} GROUP BY event_type",
        "filter": f"SELECT count(*), sum(amount) FROM {TABLE}"
        " WHERE url LIKE '/page/1%'",
        "day": f"SELECT count(*), sum(amount), avg(duration_ms) FROM {TABLE}"
        f" WHERE event_date = '{middle}'",
    }
    first = [1 + (rows - 100) * number // RANGES for number in range(RANGES)]
    ranges = [
        f"SELECT id, user_id, amount, event_type FROM {TABLE}"
        f" WHERE id BETWEEN {low} AND {low + 99}"
        for low in first
    ]
    return {name: [Query(name, sql)] for name, sql in simple.items()} | {
        LIVE_INDEX: [Query(LIVE_INDEX, sql) for sql in ranges]
    }


@dataclass
class Probe:
    """What one probe found.

    label    when: "30 s"
    times    milliseconds by query
    bytes    size of the table
    rows     in the table
    results  by query, with what was asked
    done     the last INSERT of each writer that the snapshot has
    doubts   amounts of the rows that the next UPDATE or the last DELETE of a
             writer chooses: whether they are done, these tell
    failed   status and note of a query without a result
    """

    label: str
    times: dict[str, float] = field(default_factory=dict)
    bytes: int = 0
    rows: int = 0
    results: list[tuple[Query, Result]] = field(default_factory=list)
    done: list[int] = field(default_factory=list)
    doubts: dict[int, object] = field(default_factory=dict)
    failed: dict[str, tuple[str, str]] = field(default_factory=dict)


def _keys(
    engine: PostgresEngine, rows: int, done: list[int], timeout: float
) -> dict[str, tuple[int, ...]]:
    """The keys in doubt, of each writer: by the next UPDATE, by the last DELETE."""
    found = {}
    for kind, make, at in (
        ("update", rounds.updated_key, [n + 1 for n in done]),
        ("delete", rounds.deleted_key, done),
    ):
        expressions = [make(str(n), str(w), rows) for w, n in enumerate(at)]
        (found[kind],) = engine.rows(f"SELECT {', '.join(expressions)}", timeout)
    return found


def _ask(
    engine: PostgresEngine, probe: Probe, rows: int, timeout: float, repeats: int
) -> None:
    for name, asked in queries(rows).items():
        spent = []
        for query in asked:
            for number in range(repeats):
                try:
                    result, elapsed = engine.timed(query.sql, timeout)
                except (QueryFailed, QueryTimeout) as reason:
                    late = isinstance(reason, QueryTimeout)
                    probe.failed[name] = (TIMEOUT if late else ERROR, str(reason))
                    return
                spent.append(elapsed)
                if number == 0:
                    probe.results.append((query, result))
        probe.times[name] = statistics.median(spent)


def take(
    engine: PostgresEngine, label: str, rows: int, timeout: float, repeats: int = 1
) -> Probe:
    """Ask everything in one snapshot; every statement with the same timeout, as
    an error takes back what the session set in its transaction."""
    probe = Probe(label)
    engine.rows("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", timeout)
    try:
        _ask(engine, probe, rows, timeout, repeats)
        if not probe.failed:
            last = dict(
                engine.rows(
                    f"SELECT (id - {rows} - 1) % {WRITERS}, max(id) FROM {TABLE}"
                    f" WHERE id > {rows} GROUP BY 1",
                    timeout,
                )
            )
            probe.done = [
                (last[w] - rows - 1) // WRITERS + 1 if w in last else 0
                for w in range(WRITERS)
            ]
            keys = _keys(engine, rows, probe.done, timeout)
            wanted = ", ".join(map(str, keys["update"] + keys["delete"]))
            probe.doubts = dict(
                engine.rows(
                    f"SELECT id, amount FROM {TABLE} WHERE id IN ({wanted})", timeout
                )
            )
            ((probe.bytes,),) = engine.rows(f"SELECT pg_table_size('{TABLE}')", timeout)
            probe.rows = probe.results[0][1].rows[0][0]
    finally:
        engine.rows("ROLLBACK", timeout)
    return probe


class Twin:
    """The table in heap, made of `base`, brought from probe to probe."""

    def __init__(self, engine: PostgresEngine, rows: int) -> None:
        self.rows = rows
        self.engine = engine
        self.at = [Position() for _ in range(WRITERS)]
        self.engine.rows(f"DROP TABLE IF EXISTS {TABLE}")
        self.engine.rows(f"CREATE UNLOGGED TABLE {TABLE} (LIKE base)")
        self.engine.rows(f"INSERT INTO {TABLE} SELECT * FROM base")
        self.engine.rows(f"ALTER TABLE {TABLE} ADD PRIMARY KEY (id)")
        self.engine.rows(f"VACUUM (ANALYZE) {TABLE}")

    def _to(self, writer: int, new: Position) -> None:
        for sql in rounds.advance(writer, self.at[writer], new, self.rows):
            self.engine.rows(sql)
        self.at[writer] = new

    def follow(self, probe: Probe) -> None:
        """Be where the writers were in the probe's snapshot."""
        for writer, done in enumerate(probe.done):
            old = self.at[writer]
            sure = rounds.last_deleting(done - 1) if done else 0
            self._to(
                writer, Position(max(done, old.updated), done, max(sure, old.deleted))
            )
        keys = _keys(self.engine, self.rows, probe.done, 0)
        for writer, done in enumerate(probe.done):
            old = self.at[writer]
            if done == rounds.last_deleting(done) > old.deleted and (
                keys["delete"][writer] not in probe.doubts
            ):
                self._to(writer, replace(old, deleted=done))
        for writer, done in enumerate(probe.done):
            key = keys["update"][writer]
            found = self.engine.rows(f"SELECT amount FROM {TABLE} WHERE id = {key}")
            if found and key in probe.doubts and probe.doubts[key] > found[0][0]:
                self._to(writer, replace(self.at[writer], updated=done + 1))

    def end(self, number: int) -> None:
        """Be where the writers are after all their rounds."""
        for writer in range(WRITERS):
            self._to(writer, Position(number, number, number))

    def differs(self, query: Query, got: Result, timeout: float) -> str:
        """How a result differs from the twin's; empty: it does not."""
        expected, _ = self.engine.timed(query.sql, timeout)
        try:
            compare(query, expected, got)
        except Mismatch as difference:
            return str(difference)
        return ""


class Held:
    """A snapshot that a session holds while rows change."""

    def __init__(self, engine: PostgresEngine, rows: int, timeout: float) -> None:
        self.engine = engine
        self.asked = [query for some in queries(rows).values() for query in some]
        self.timeout = timeout
        self.engine.rows("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", timeout)
        self.before = self._ask()

    def _ask(self) -> list[Result]:
        return [self.engine.timed(q.sql, self.timeout)[0] for q in self.asked]

    def end(self) -> str:
        """Let it go; how what it sees has changed, empty if it has not."""
        after = self._ask()
        self.engine.rows("ROLLBACK", self.timeout)
        for query, one, two in zip(self.asked, self.before, after, strict=True):
            try:
                compare(query, one, two)
            except Mismatch as difference:
                return f"in a snapshot held open: {difference}"
        return ""
