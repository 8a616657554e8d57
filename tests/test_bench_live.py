"""What the benchmark checks by heap: the data set "live", whose writers' doings are
known so that a wrong row is seen, and results that may be any rows of a whole."""

from __future__ import annotations

import pytest

from bench import rounds
from bench.bars import bars
from bench.compare import Result
from bench.config import from_environment
from bench.engines import PostgresEngine
from bench.events import EVENTS_DATA
from bench.measure import foreign
from bench.results import Cell, Results
from bench.rounds import Position, last_deleting, percentile, read_log
from bench.twin import Held, Twin, queries, take

N = 2_000
DIGEST = "SELECT count(*), sum(hashtextextended(r::text, 0)::numeric) FROM live AS r"


@pytest.fixture
def databases(db):
    """A database with `base`, and sessions of the writers' table and the twin's,
    each in a schema of its own."""
    with db.connect() as conn:
        conn.execute(f"CREATE TABLE base ({EVENTS_DATA.ddl})")
        EVENTS_DATA.fill(conn, "base", N, lambda text: None)
        conn.execute("CREATE SCHEMA own")
        conn.execute("CREATE SCHEMA twin")
        conn.execute("CREATE TABLE own.live AS SELECT * FROM base")
        conn.execute("ALTER TABLE own.live ADD PRIMARY KEY (id)")
    engines = [PostgresEngine(db.cluster.dsn(db.name)) for _ in range(2)]
    for engine, schema in zip(engines, ("own", "twin"), strict=True):
        engine.configure(search_path=f"{schema}, public")
    yield engines
    for engine in engines:
        engine.close()


def test_bulk_does_what_pgbench_does(databases, db, cluster):
    """All rounds of both writers at the same time."""
    own, other = databases
    script = cluster.directory / "live.sql"
    script.write_text(rounds.script(N))
    script.chmod(0o644)
    cluster.run(
        "pgbench", "-n", "-c", rounds.WRITERS, "-j", 2, "-t", 60, "-M", "prepared",
        "-D", "n=0", "-f", script, f"{cluster.dsn(db.name)} options='-c search_path=own'",
    )  # fmt: skip
    twin = Twin(other, N)
    assert own.rows(DIGEST) != other.rows(DIGEST)
    twin.end(60)
    assert own.rows(DIGEST) == other.rows(DIGEST)


def _do(engine: PostgresEngine, writer: int, old: Position, new: Position) -> None:
    for sql in rounds.advance(writer, old, new, N):
        engine.rows(sql)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Position(), Position(1, 0, 0)),
        (Position(8, 7, 5), Position(5, 5, 0)),
        (Position(10, 10, 5), Position(11, 10, 10)),
        (Position(10, 10, 10), Position(301, 300, 295)),
    ],
)
def test_twin_finds_where_the_writers_were(databases, first, second):
    """Writers in the middle of a round, once and again."""
    own, other = databases
    twin = Twin(other, N)
    for writer, new in enumerate((first, second)):
        _do(own, writer, Position(), new)
    for number in range(2):
        probe = take(own, "now", N, 60)
        assert probe.rows and set(probe.times) == set(queries(N))
        twin.follow(probe)
        assert own.rows(DIGEST) == other.rows(DIGEST)
        for query, result in probe.results:
            assert twin.differs(query, result, 60) == ""
        if number == 0:
            _do(own, 0, first, Position(400, 400, 395))


def test_a_lost_row_and_a_lost_update_are_seen(databases):
    own, other = databases
    twin = Twin(other, N)
    for writer in range(2):
        _do(own, writer, Position(), Position(50, 50, 50))
    ((untouched,),) = own.rows(
        "SELECT min(l.id) FROM own.live l JOIN base b USING (id, amount) WHERE id > 100"
    )
    for sql in (
        f"UPDATE live SET amount = amount - 1 WHERE id = {untouched}",
        f"DELETE FROM live WHERE id = {untouched}",
    ):
        own.rows(sql)
        probe = take(own, "now", N, 60)
        twin.follow(probe)
        wrong = [query.name for query, r in probe.results if twin.differs(query, r, 60)]
        assert {"sum", "group"} <= set(wrong)


def test_a_failed_query_ends_the_probe_and_keeps_the_session(databases):
    own, _ = databases
    own.rows("ALTER TABLE live RENAME COLUMN url TO link")
    probe = take(own, "now", N, 60)
    assert probe.failed["filter"][0] == "error"
    assert "sum" in probe.times and "filter" not in probe.times
    assert own.rows("SELECT 1") == [(1,)]


def test_a_snapshot_that_changes_is_seen(databases):
    """READ COMMITTED stands for a snapshot that is not kept."""
    own, other = databases
    other.configure(search_path="own, public")
    for level, changed in (("REPEATABLE READ", False), ("READ COMMITTED", True)):
        held = Held(other, N, 60)
        other.rows("ROLLBACK", 60)
        other.rows(f"BEGIN ISOLATION LEVEL {level}", 60)
        other.rows("SELECT count(*) FROM live", 60)
        held.before = held._ask()
        _do(own, 0, Position(), Position(7, 0, 5))
        found = held.end()
        assert (
            found.startswith("in a snapshot held open: sum") if changed else not found
        )


def test_rounds_that_delete():
    assert [last_deleting(n) for n in (0, 4, 5, 9, 10)] == [0, 0, 5, 5, 10]
    assert rounds.advance(0, Position(5, 5, 5), Position(5, 5, 9), N) == []


def test_bars_of_live():
    found = Results()

    def add(section: str, name: str, **figures: float) -> None:
        for system, figure in figures.items():
            found.add(Cell("live", section, name, system, "ms", [figure]))

    add("live", "sum, fresh", heap=100, colcompress=2)
    add("live", "sum, while written: worst", heap=100, colcompress=30)
    add("live", "sum, after the rest", heap=100, colcompress=3)
    add("live", "sum, the same rows loaded anew", heap=100, colcompress=2)
    add("live", "bytes per row, of the fresh table's: worst", colcompress=1.9)
    add("sum, over time", "30 s", heap=100, colcompress=30)
    add("sum, over time", "60 s", heap=100, colcompress=40)
    add("index range of 100 rows, over time", "30 s", heap=0.01, colcompress=0.1)
    add("writers", "latency, 99.9th percentile", heap=3, colcompress=9)
    add("writers", "worst lag", heap=50, colcompress=90)
    assert [line[1:] for line in bars(found)[1:]] == [
        ["sum", "2.00", "1", "NO"],
        ["sum, 60 s", "0.40", "0.3333", "NO"],
        ["index range of 100 rows, 30 s", "1.00", "2", "yes"],
        ["", "1.90", "2", "yes"],
        ["", "9.00", "8", "NO"],
        ["", "90.00", "100", "yes"],
        ["sum", "1.50", "1.2", "NO"],
    ]


def test_bars_of_switch():
    found = Results()
    for name, figure in (
        ("adopt, time", 4),
        ("writers beside adopt: worst", 51),
        ("writers alone: 99th percentile", 3),
        ("writers beside merge: 99th percentile", 6),
        ("table and indexes, most beside merge, of heap's", 1.2),
    ):
        found.add(Cell("switch", "switch", name, "rowcompress", "", [figure]))
    assert [line[2:] for line in bars(found)[1:]] == [
        ["4.00", "50", "yes"],
        ["51.00", "50", "NO"],
        ["2.00", "2", "yes"],
        ["1.20", "1.15", "NO"],
    ]


def test_log_of_the_writers():
    log = read_log(["0 1 2500 0 1000 500000 750", "1 1 100 0 1001 0 0"], 999.0)
    assert log == [(1.5, 2.5, 0.75), (2.0, 0.1, 0.0)]
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([3.0, 1.0, 2.0], 0.999) == 3.0


def test_environment_of_live():
    live = from_environment({"LIVE_MINUTES": "0.5", "LIVE_RATE": "100"}).live
    assert (live.minutes, live.rate, live.rest) == (0.5, 100, 60)
    assert "live" not in from_environment({}).datasets
    assert from_environment({"DATASETS": "live"}).datasets == ("live",)
    with pytest.raises(ValueError, match="LIVE_PROBE"):
        from_environment({"LIVE_PROBE": "0"})


def test_a_row_that_heap_does_not_have(db):
    heap = PostgresEngine(db.cluster.dsn(db.name))
    try:
        heap.rows("CREATE TABLE t AS VALUES (1, 'a''b'), (2, NULL), (2, NULL)")
        whole = "SELECT column1, column2 FROM t GROUP BY 1, 2"
        for rows, wrong in (
            ([(1, "a'b"), (2, None)], ""),
            ([(2, "a'b")], "('2', \"a'b\")"),
            ([(1, "a'b"), (3, None)], "('3', None)"),
        ):
            found = foreign(heap, whole, Result(("x",) * 2, ("T",) * 2, rows), 60)
            assert found.endswith(wrong) and bool(found) == bool(wrong)
        own, _ = heap.timed(f"{whole} LIMIT 1", 60)
        assert foreign(heap, whole, own, 60) == ""
    finally:
        heap.close()
