"""zonemap: every scan finds what a sequential scan of the same table finds.

The table changes at random, by this session and others beside it; after each
round random queries are run under every kind of plan in one snapshot.
"""

from __future__ import annotations

import random
import threading
import time

import psycopg
import pytest
from strata.wait import wait_until

# name, SQL type, SQL of a value that grows with the expression %s (0..10000)
TYPES = {
    "int2": ("smallint", "(%s % 3000)::smallint"),
    "int4": ("integer", "(%s * 3)::integer"),
    "int8": ("bigint", "(%s::bigint * 10000000000)"),
    "numeric": ("numeric", "(%s / 7.0)"),
    "float8": ("float8", "(%s / 3.0)::float8"),
    "text": ("text", "lpad((%s)::text, 6, '0')"),
    "text_c": ('text COLLATE "C"', "chr(65 + (%s) / 500) || (%s)::text"),
    "long_text": ("text", "lpad((%s)::text, 6, '0') || repeat('x', 400 + %s % 900)"),
    "name": ("name", "lpad((%s)::text, 6, '0')::name"),
    "uuid": ("uuid", "lpad(to_hex(%s), 32, '0')::uuid"),
    "date": ("date", "(date '2000-01-01' + %s)"),
    "timestamptz": (
        "timestamptz",
        "(timestamptz '2000-01-01 00:00+00' + %s * interval '1 min')",
    ),
    "time": ("time", "(time '00:00' + %s * interval '5 s')"),
    "interval": ("interval", "(%s * interval '7 min')"),
    "bool": ("bool", "(%s > 5000)"),
    "bytea": ("bytea", "decode(lpad(to_hex(%s), 8, '0'), 'hex')"),
    "inet": ("inet", "('10.0.0.0'::inet + %s)"),
    "int4range": ("int4range", "int4range(%s, 20000)"),
    "int_array": ("int[]", "ARRAY[%s / 10, %s % 10]"),
    "oid": ("oid", "(%s + 2147480000::bigint)::oid"),
}

ORDERS = ("", "DESC", "NULLS FIRST", "DESC NULLS LAST")
PATTERNS = {
    "sorted": "g * 10000 / {n}",
    "reversed": "(10000 - g * 10000 / {n})",
    "random": "(random() * 10000)::int",
    "clumped": "((g * 7919 / {n} % 13) * 700 + (random() * 20)::int)",
    "equal": "(g / 400 * 1000 % 9000)",
    "strays": "(CASE WHEN random() < 0.01 THEN (random() * 10000)::int"
    " ELSE g * 10000 / {n} END)",
    "late": "least(10000, greatest(0, g * 10000 / {n} + (random() * 60)::int - 30))",
}

PLANS = {
    "index": ("enable_indexscan",),
    "page": ("enable_indexscan", "sorted_heap.enable_page_scan"),
    "bitmap": ("enable_bitmapscan",),
    "parallel": ("enable_indexscan", "sorted_heap.enable_page_scan", "parallel"),
}
SCANS = (
    "enable_seqscan",
    "enable_indexscan",
    "enable_bitmapscan",
    "sorted_heap.enable_page_scan",
)


class Columns:
    """One to three key columns of random types."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        names = rng.sample(sorted(TYPES), rng.choice((1, 1, 1, 2, 2, 3)))
        if rng.random() < 0.3:
            names = ["int8"]
        self.types = [TYPES[name] for name in names]
        self.names = [f"k{i}" for i in range(len(names))]
        self.orders = [rng.choice(ORDERS) for _ in names]
        self.nulls = rng.choice((0, 0, 0.02, 0.3))

    def table(self) -> str:
        columns = ", ".join(
            f"{name} {kind}"
            for name, (kind, _) in zip(self.names, self.types, strict=True)
        )
        return f"id serial, {columns}, v int, filler text"

    def index(self) -> str:
        return ", ".join(map(" ".join, zip(self.names, self.orders, strict=True)))

    def value(self, i: int, number: str) -> str:
        """SQL of a value of column i."""
        if i > 0 and self.rng.random() < 0.5:
            number = f"(({number}) % 17)"
        return self.types[i][1].replace("%s", f"({number})")

    def row(self, number: str) -> str:
        """SQL of all key columns, some of them NULL."""
        values = []
        for i in range(len(self.names)):
            value = self.value(i, number)
            if self.nulls:
                value = f"CASE WHEN random() >= {self.nulls} THEN {value} END"
            values.append(value)
        return ", ".join(values)

    def condition(self) -> str:
        """A random WHERE clause."""
        rng = self.rng
        parts = []
        for i, name in enumerate(self.names):
            if i and rng.random() < 0.3:
                continue
            near = rng.randrange(-50, 10100)
            one = f"(SELECT {self.value(i, str(max(0, near)))})"
            two = f"(SELECT {self.value(i, str(max(0, near) + rng.randrange(300)))})"
            some = ", ".join(self.value(i, str(rng.randrange(10001))) for _ in range(5))
            parts.append(
                rng.choice(
                    (
                        f"{name} = {one}",
                        f"{name} BETWEEN {one} AND {two}",
                        f"{name} > {one} AND {name} <= {two}",
                        f"{name} >= {two}",
                        f"{name} < {one}",
                        f"{name} IN ({some}, NULL)",
                        f"{name} = ANY (ARRAY(SELECT {name} FROM t ORDER BY id LIMIT 9))"
                        if self.types[i][0] != "int[]"
                        else f"{name} <> {one}",
                        f"{name} IS NULL",
                        f"{name} IS NOT NULL",
                        "true",
                    )
                )
            )
        return " AND ".join(parts) or "true"

    def ordering(self) -> str:
        """The index' order, or its opposite."""
        swap = self.rng.random() < 0.5
        terms = []
        for name, order in zip(self.names, self.orders, strict=True):
            descending = "DESC" in order
            first = "FIRST" in order or (descending and "LAST" not in order)
            if swap:
                descending, first = not descending, not first
            terms.append(
                f"{name} {'DESC' if descending else 'ASC'}"
                f" NULLS {'FIRST' if first else 'LAST'}"
            )
        return ", ".join(terms)


def only(conn, *scans: str) -> None:
    for scan in SCANS:
        conn.execute(f"SET LOCAL {scan} = {'on' if scan in scans else 'off'}")
    workers = 2 if "parallel" in scans else 0
    conn.execute(f"SET LOCAL max_parallel_workers_per_gather = {workers}")


def compare(conn, columns: Columns, queries: int) -> None:
    """Random queries under every plan, in one snapshot."""
    keys = ", ".join(columns.names)
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        for cost in ("parallel_setup_cost", "parallel_tuple_cost"):
            conn.execute(f"SET LOCAL {cost} = 0")
        conn.execute("SET LOCAL min_parallel_table_scan_size = 0")
        for _ in range(queries):
            where = columns.condition()
            query = f"SELECT id, {keys}, v FROM t WHERE {where}"
            only(conn, "enable_seqscan")
            wanted = sorted(map(repr, conn.execute(query).fetchall()))
            for plan, scans in PLANS.items():
                if plan == "parallel" and columns.rng.random() < 0.6:
                    continue  # processes take time
                only(conn, *scans)
                found = sorted(map(repr, conn.execute(query).fetchall()))
                assert found == wanted, f"{plan}: {query}"
            order = columns.ordering()
            ordered = f"SELECT {keys} FROM t WHERE {where} ORDER BY {order}"
            if columns.rng.random() < 0.5:
                ordered += " LIMIT 20"
            only(conn, "enable_seqscan")
            wanted = conn.execute(ordered).fetchall()
            for plan in ("index", "page"):
                only(conn, *PLANS[plan])
                assert conn.execute(ordered).fetchall() == wanted, ordered
                backwards(conn, query, order)


def backwards(conn, query: str, order: str) -> None:
    """A cursor that turns around sees the same rows both ways."""
    conn.execute(f"DECLARE c SCROLL CURSOR FOR {query} ORDER BY {order}")
    some = conn.execute("FETCH 30 FROM c").fetchall()
    back = conn.execute("FETCH BACKWARD ALL FROM c").fetchall()
    rest = conn.execute("FETCH ALL FROM c").fetchall()
    again = conn.execute("FETCH BACKWARD ALL FROM c").fetchall()
    conn.execute("CLOSE c")

    # Rows with equal keys may change places while others write.
    def keys(rows):
        return [row[1:-1] for row in rows]

    assert keys(rest[: len(some)]) == keys(some)
    assert back == some[: len(some) - (len(some) == 30)][::-1]
    assert keys(again) == keys(rest)[::-1]
    assert sorted(map(repr, again)) == sorted(map(repr, rest))


def change(conn, columns: Columns, rng: random.Random, pattern: str) -> None:
    """One random change; a third of them is rolled back."""
    keys = ", ".join(columns.names)
    n = rng.choice((1, 5, 200, 1500))
    number = rng.choice(
        (
            "(random() * 10000)::int",
            "9000 + g % 1000",
            PATTERNS[pattern].format(n=n),
            str(rng.randrange(10000)),
        )
    )
    low = rng.randrange(20000)
    statement = rng.choice(
        (
            f"INSERT INTO t ({keys}, v, filler) SELECT {columns.row(number)}, g,"
            f" repeat('f', g % 50) FROM generate_series(1, {n}) g",
            f"UPDATE t SET v = v + 1 WHERE id BETWEEN {low} AND {low + n}",
            f"UPDATE t SET ({keys}) = (SELECT {columns.row('t.id % 10000')})"
            f" WHERE id BETWEEN {low} AND {low + n}",
            f"DELETE FROM t WHERE id BETWEEN {low} AND {low + n * 2}",
            f"DELETE FROM t WHERE id % {rng.randrange(2, 40)} = 0",
        )
    )
    if len(columns.names) == 1:
        statement = statement.replace(f"({keys}) = ", f"{keys} = ")
    conn.execute("BEGIN")
    conn.execute(statement)
    conn.execute(rng.choice(("COMMIT", "COMMIT", "ROLLBACK")))


def settle(conn, rng: random.Random) -> None:
    """What moves things about without changing rows."""
    conn.execute(
        rng.choice(
            (
                "VACUUM t",
                "VACUUM (FREEZE) t",
                "REINDEX INDEX ti",
                "REINDEX INDEX CONCURRENTLY ti",
                "SELECT 1",
                "SELECT 1",
                "VACUUM FULL t",
                "CLUSTER t USING ti",
                "CHECKPOINT",
            )
        )
    )


def fuzz(
    connect, rng: random.Random, rounds: int, rows: int, method: str = "heap"
) -> None:
    """One table through its life."""
    columns = Columns(rng)
    pattern = rng.choice(sorted(PATTERNS))
    conn = connect()
    conn.execute("SELECT setseed(%s)", [rng.random()])
    conn.execute("SET max_parallel_workers_per_gather = 0")
    conn.execute("DROP TABLE IF EXISTS t")
    fillfactor = rng.choice((100, 100, 70))
    conn.execute(
        f"CREATE TABLE t ({columns.table()}) USING {method} WITH (fillfactor = {fillfactor},"
        " autovacuum_enabled = off)"
    )
    keys = ", ".join(columns.names)
    create = f"CREATE INDEX ti ON t USING zonemap ({columns.index()})"
    if rng.random() < 0.3:
        conn.execute(create)
    conn.execute(
        f"INSERT INTO t ({keys}, v) SELECT"
        f" {columns.row(PATTERNS[pattern].format(n=rows))}, g"
        f" FROM generate_series(1, {rows}) g"
    )
    if rng.random() < 0.3:
        conn.execute("DELETE FROM t WHERE id % 3 = 0")
        conn.execute("UPDATE t SET v = 7 WHERE id % 4 = 0")
    conn.execute(create.replace("INDEX", "INDEX IF NOT EXISTS", 1))
    verify(conn)
    for _ in range(rounds):
        for _ in range(rng.randrange(1, 5)):
            change(conn, columns, rng, pattern)
        settle(conn, rng)
        verify(conn)
        compare(conn, columns, 4)


def verify(conn) -> None:
    assert (
        conn.execute("SELECT * FROM sorted_heap.zonemap_verify('ti')").fetchall() == []
    )


@pytest.fixture
def zone_db(db):
    with db.connect() as conn:
        conn.execute("CREATE EXTENSION sorted_heap")
    return db


@pytest.mark.parametrize("method", ("heap", "sorted_heap"))
@pytest.mark.parametrize("number", range(4))
def test_scans_agree(zone_db, rng, number, method):
    fuzz(zone_db.connect, rng, rounds=3, rows=2500, method=method)


@pytest.mark.parametrize("method", ("heap", "sorted_heap"))
def test_concurrent_writers(zone_db, rng, method):
    """Two writers and a vacuum beside the queries."""
    columns = Columns(rng)
    conn = zone_db.connect()
    conn.execute(f"CREATE TABLE t ({columns.table()}) USING {method}")
    conn.execute(f"CREATE INDEX ti ON t USING zonemap ({columns.index()})")
    stop = threading.Event()
    problems: list[BaseException] = []

    def write(seed: int) -> None:
        own = random.Random(seed)
        mine = zone_db.connect()
        try:
            while not stop.is_set():
                change(mine, columns, own, "random")
                if own.random() < 0.1:
                    mine.execute("VACUUM t")
        except psycopg.errors.DeadlockDetected:
            pass
        except BaseException as problem:
            problems.append(problem)

    writers = [threading.Thread(target=write, args=[rng.random()]) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(5):
            compare(conn, columns, 2)
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert not problems, problems
    verify(conn)
    compare(conn, columns, 4)


def test_on_conflict(zone_db):
    """From 18 on the server takes any unique index; before, it refuses."""
    conn = zone_db.connect()
    conn.execute("CREATE TABLE u (id int, v int)")
    conn.execute("CREATE UNIQUE INDEX ui ON u USING zonemap (id)")
    conn.execute("INSERT INTO u SELECT g, 1 FROM generate_series(1, 1000) g")
    upsert = (
        "INSERT INTO u VALUES (77, 9), (2000, 9)"
        " ON CONFLICT (id) DO UPDATE SET v = u.v + EXCLUDED.v"
    )
    if conn.info.server_version < 180000:
        with pytest.raises(psycopg.errors.InternalError_):
            conn.execute(upsert)
        return
    conn.execute(upsert)
    conn.execute("INSERT INTO u VALUES (77, 5), (2001, 5) ON CONFLICT DO NOTHING")
    found = conn.execute("SELECT * FROM u WHERE id IN (77, 2000, 2001)").fetchall()
    assert sorted(found) == [(77, 10), (2000, 9), (2001, 5)]

    def race() -> None:
        mine = zone_db.connect()
        for i in range(200):
            mine.execute(
                "INSERT INTO u VALUES (%s, 1) ON CONFLICT (id)"
                " DO UPDATE SET v = u.v + 1",
                [3000 + i],
            )

    racers = [threading.Thread(target=race) for _ in range(3)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    found = conn.execute("SELECT count(*), sum(v) FROM u WHERE id >= 3000").fetchall()
    assert found == [(200, 600)]


def test_unique_race(zone_db):
    """Several sessions insert the same keys: each key gets in once."""
    conn = zone_db.connect()
    conn.execute("CREATE TABLE u (id int, who int)")
    conn.execute("CREATE UNIQUE INDEX ui ON u USING zonemap (id)")
    won: list[int] = []

    def race(who: int) -> None:
        mine = zone_db.connect()
        own = random.Random(who)
        for i in range(300):
            try:
                with mine.transaction():
                    mine.execute("INSERT INTO u VALUES (%s, %s)", [i // 2 * 7, who])
                    if own.random() < 0.2:
                        raise psycopg.Rollback
                    won.append(i // 2 * 7)
            except psycopg.errors.UniqueViolation:
                pass

    racers = [threading.Thread(target=race, args=[who]) for who in range(4)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert len(won) == len(set(won))
    conn.execute("SET enable_indexscan = off")
    conn.execute("SET enable_bitmapscan = off")
    rows = conn.execute("SELECT id FROM u ORDER BY id").fetchall()
    assert [row[0] for row in rows] == sorted(won)
    assert (
        conn.execute("SELECT * FROM sorted_heap.zonemap_verify('ui')").fetchall() == []
    )


PAUSES = """
CREATE FUNCTION paused_cmp(a int, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	remaining int := nullif(current_setting('test.remaining', true), '')::int;
BEGIN
	IF remaining IS NOT NULL THEN
		PERFORM set_config('test.remaining', (remaining - 1)::text, false);
	END IF;
	IF remaining = 0 THEN
		PERFORM pg_advisory_lock_shared(2), pg_advisory_unlock_shared(2);
	END IF;
	RETURN btint4cmp(a, b);
END $$;
CREATE OPERATOR CLASS paused_ops FOR TYPE int USING zonemap AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
	FUNCTION 1 paused_cmp(int, int);
CREATE FUNCTION paused_move(id int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_setting('test.moves', true) = 'paused' THEN
		PERFORM pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1);
	END IF;
	RETURN id;
END $$;
CREATE TABLE p (id int, pad text) WITH (autovacuum_enabled = off);
CREATE UNIQUE INDEX pi ON p USING zonemap (id paused_ops);
CREATE INDEX pe ON p (paused_move(id));
"""


def test_unique_check_while_the_row_moves(zone_db):
    """A row moves to an earlier page while the check goes from there to the later
    one: paused at each of its comparisons in turn, the check finds the row."""
    conn, mover, inserter = (zone_db.connect() for _ in range(3))
    pids = {c: c.info.backend_pid for c in (mover, inserter)}
    conn.execute(PAUSES)
    mover.execute("SET test.moves = 'paused'")

    def waits_for(c) -> tuple:
        return conn.execute(
            "SELECT wait_event_type, wait_event FROM pg_stat_activity WHERE pid = %s",
            [pids[c]],
        ).fetchone()

    def move() -> None:
        mover.execute("CALL sorted_heap.merge('p')")

    def insert(outcome: list) -> None:
        try:
            inserter.execute("INSERT INTO p VALUES (25, 'again')")
            outcome.append("inserted")
        except psycopg.errors.UniqueViolation:
            outcome.append("refused")

    paused, number = True, 0
    while paused:
        conn.execute("TRUNCATE p")
        conn.execute(
            "INSERT INTO p SELECT g * 10, repeat('x', 1000) FROM generate_series(1, 21) g"
        )
        conn.execute("INSERT INTO p VALUES (25, repeat('x', 1000))")
        conn.execute("DELETE FROM p WHERE id IN (20, 30)")
        conn.execute("VACUUM p")
        conn.execute("SELECT pg_advisory_lock(1), pg_advisory_lock(2)")
        inserter.execute(f"SET test.remaining = {number}")
        outcome: list[str] = []
        threads = [threading.Thread(target=move)]
        threads.append(threading.Thread(target=insert, args=[outcome]))
        threads[0].start()
        # its new tuple is on the first page, its old one is not deleted yet
        wait_until(lambda: waits_for(mover) == ("Lock", "advisory"), "the move")
        threads[1].start()
        wait_until(
            lambda seen=outcome: seen or waits_for(inserter)[0] == "Lock",
            "the unique check",
        )
        paused = waits_for(inserter) == ("Lock", "advisory")
        conn.execute("SELECT pg_advisory_unlock(1)")
        # where the check is paused with a leaf locked, the move waits for it
        wait_until(
            lambda t=threads[0]: (
                not t.is_alive() or (waits_for(mover)[1] or "").startswith("Buffer")
            ),
            "the end of the move",
        )
        conn.execute("SELECT pg_advisory_unlock(2)")
        for thread in threads:
            thread.join()
        assert outcome == ["refused"], number
        number += 1
    assert number > 10
    ((moved,),) = conn.execute("SELECT ctid FROM p WHERE id = 25").fetchall()
    assert moved.startswith("(0,")


@pytest.mark.parametrize("width", [1600, 1750, 1980])
def test_wide_keys_with_duplicates(zone_db, width):
    """Pages of four entries are split so that each split gains room, in leaves and
    above, whatever comes: rows one by one, VACUUM's zones, merge and compact."""
    conn = zone_db.connect()
    sound = "SELECT * FROM sorted_heap.zonemap_verify('wi')"
    key = f"rpad(((g * 7919) %% %s)::text, {width}, 'x')"
    insert = f"INSERT INTO w SELECT {key}, g FROM generate_series(1, %s) g"
    conn.execute("CREATE TABLE w (k text, v int) USING sorted_heap")
    conn.execute("ALTER TABLE w ALTER k SET STORAGE EXTERNAL")
    conn.execute("CREATE INDEX wi ON w USING zonemap (k)")
    conn.execute(insert, [3, 300])
    conn.execute("DELETE FROM w WHERE v % 3 = 0")
    conn.execute("VACUUM w")
    conn.execute(insert, [5, 300])
    assert conn.execute(sound).fetchall() == []
    conn.execute("TRUNCATE w")
    conn.execute("DROP INDEX wi")
    conn.execute(insert, [50, 400])
    conn.execute("CREATE INDEX wi ON w USING zonemap (k)")
    conn.execute(insert, [30, 600])
    assert conn.execute(sound).fetchall() == []
    conn.execute("CALL sorted_heap.merge('w')")
    conn.execute("CALL sorted_heap.compact('w')")
    assert conn.execute(sound).fetchall() == []
    conn.execute("SET enable_seqscan = off")
    conn.execute("SET enable_bitmapscan = off")
    found = conn.execute(
        "SELECT left(k, 2), count(*) FROM w GROUP BY k ORDER BY k"
    ).fetchall()
    assert sum(rows for _, rows in found) == 1000
    assert len(found) == 50


def test_strangers_lock_nothing(zone_db):
    """Who may not verify an index does not make writers of its table wait."""
    conn = zone_db.connect()
    conn.execute("CREATE TABLE owned (k int)")
    conn.execute("CREATE INDEX owned_k ON owned USING zonemap (k)")
    conn.execute("CREATE ROLE stranger")
    writer = zone_db.connect()
    try:
        with writer.transaction():
            writer.execute("INSERT INTO owned VALUES (1)")
            conn.execute("SET ROLE stranger")
            conn.execute("SET lock_timeout = '3s'")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute("SELECT * FROM sorted_heap.zonemap_verify('owned_k')")
    finally:
        conn.execute("RESET ROLE")
        conn.execute("DROP ROLE stranger")


@pytest.mark.parametrize(
    ("index", "entries"),
    [
        ("INDEX di ON d USING zonemap (k)", 385),
        ("UNIQUE INDEX di ON d USING zonemap (k, absent)", 275),
    ],
)
def test_leaf_that_ends_amid_a_key(zone_db, index, entries):
    """A page that has exact entries of a key gets a zone of it, then the leaf is split
    amid the key: its rows are still found once.  So are rows that a null in their
    key keeps from being duplicates."""
    conn = zone_db.connect()
    conn.execute("CREATE TABLE d (k int, absent int, t text)")
    conn.execute("ALTER TABLE d ALTER t SET STORAGE PLAIN")
    conn.execute(f"CREATE {index}")

    def insert(key, width, rows=1):
        conn.execute(
            f"INSERT INTO d SELECT {key}, NULL, repeat('x', {width})"
            f" FROM generate_series(1, {rows})"
        )

    def vacuum():
        conn.execute("VACUUM (INDEX_CLEANUP ON) d")

    # Two rows a page: a zone of the key, then entries of it all over the table.
    for key in (100, 500):
        insert(key, 4100)
        insert(key, 3800)
    insert(100, 4100, entries)
    vacuum()
    insert(500, 3800, entries)
    last = "(SELECT max((ctid::text::point)[0]) FROM d WHERE k = 500)"
    # The zone loses its page; a row of the key comes to the last page with one.
    conn.execute("DELETE FROM d WHERE (ctid::text::point)[0] = 1")
    vacuum()
    insert(100, 4100)
    insert(100, 3800)
    conn.execute(f"DELETE FROM d WHERE (ctid::text::point)[0] = {last} AND k = 100")
    vacuum()
    insert(500, 4000)
    insert(100, 4100, 30)
    for _ in range(4):
        insert(500, 3800, 30)
        problems = conn.execute("SELECT * FROM sorted_heap.zonemap_verify('di')")
        assert problems.fetchall() == []


def test_a_unique_key_of_more_than_a_leaf(zone_db):
    """A row that a zone in the left half of a leaf covers, and that has an entry in
    the right one, which a unique index keeps when it splits the leaf: found once."""
    conn, old, third = (zone_db.connect() for _ in range(3))
    conn.execute("CREATE TABLE d (k int, v int, t text)")
    conn.execute("ALTER TABLE d ALTER t SET STORAGE PLAIN")
    conn.execute("CREATE UNIQUE INDEX di ON d USING zonemap (k)")
    conn.execute("CREATE INDEX dv ON d (v)")
    conn.execute("SET enable_seqscan = off; SET enable_bitmapscan = off")

    def insert(session, key, width):
        session.execute("INSERT INTO d VALUES (%s, 0, repeat('x', %s))", [key, width])

    # A zone whose page has a greater key, so that 500 gets entries, not a zone.
    insert(conn, 100, 4100)
    conn.execute("DELETE FROM d WHERE v = 0")
    third.execute("BEGIN")
    insert(third, 900, 3800)
    conn.execute("INSERT INTO d VALUES (500, 1, repeat('x', 8000))")
    # Versions of one row, a page each; VACUUM keeps their entries.
    old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    old.execute("SELECT 1 FROM pg_class")
    versions = 370
    for v in range(1, versions):
        width = 5000 if v == versions - 1 else 8000
        conn.execute(
            "UPDATE d SET v = v + 1, t = repeat('x', %s) WHERE v = %s", [width, v]
        )
    third.execute("ROLLBACK")
    conn.execute("VACUUM (INDEX_CLEANUP ON) d")
    # The zone is a hole now: the page of the last version fills it.
    insert(conn, 2000, 7500)
    insert(conn, 101, 2500)
    old.execute("COMMIT")
    found = []
    for _ in range(60):
        with conn.transaction(force_rollback=True):
            conn.execute("UPDATE d SET v = -1 WHERE v = %s", [versions])
        found.append(conn.execute("SELECT count(*) FROM d WHERE k = 500").fetchone()[0])
    leaves = conn.execute("SELECT leaf_pages FROM sorted_heap.zonemap_stats('di')")
    assert leaves.fetchone()[0] > 2
    assert found == [1] * 60
    problems = conn.execute("SELECT * FROM sorted_heap.zonemap_verify('di')")
    assert problems.fetchall() == []
    with pytest.raises(psycopg.errors.UniqueViolation):
        insert(conn, 500, 10)


@pytest.mark.parametrize("kind", ["int", "text", "numeric"])
def test_unique_race_at_the_end(zone_db, rng, kind):
    """Sessions insert at the end and in the middle, alone and in batches, take
    rows back, move keys and delete, beside VACUUM: no key is there twice."""
    conn = zone_db.connect()
    conn.execute(f"CREATE TABLE e (id {kind}, v int)")
    conn.execute("CREATE UNIQUE INDEX ei ON e USING zonemap (id)")
    key = "lpad(({})::text, 6, '0')" if kind == "text" else "({})"
    statements = [
        f"INSERT INTO e SELECT {key.format('%(end)s + g')}, 0"
        " FROM generate_series(1, %(n)s) g",
        f"INSERT INTO e VALUES ({key.format('%(end)s')}, 1)",
        f"INSERT INTO e VALUES ({key.format('%(middle)s')}, 2)",
        f"UPDATE e SET id = {key.format('%(end)s + 3')}"
        f" WHERE id = {key.format('%(middle)s')}",
        f"UPDATE e SET v = v + 1, id = id WHERE id = {key.format('%(middle)s')}",
        f"DELETE FROM e WHERE id = {key.format('%(end)s')}",
    ]
    seeds = [rng.random() for _ in range(3)]
    failures: list[BaseException] = []

    def work(seed: float) -> None:
        own = random.Random(seed)
        mine = zone_db.connect()
        for i in range(400):
            end = i * 2 + own.randrange(4)
            values = {
                "end": end,
                "n": own.randrange(1, 9),
                "middle": own.randrange(end + 1),
            }
            try:
                with mine.transaction():
                    for _ in range(own.choice((1, 1, 2))):
                        mine.execute(own.choice(statements), values)
                    if own.random() < 0.1:
                        raise psycopg.Rollback
            except (psycopg.errors.UniqueViolation, psycopg.errors.DeadlockDetected):
                pass
            except BaseException as failure:
                failures.append(failure)
                raise
            if own.random() < 0.02:
                mine.execute("VACUUM e")

    workers = [threading.Thread(target=work, args=[seed]) for seed in seeds]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures
    conn.execute("SET enable_indexscan = off")
    conn.execute("SET enable_bitmapscan = off")
    twice = "SELECT id, count(*) FROM e GROUP BY id HAVING count(*) > 1"
    assert conn.execute(twice).fetchall() == []
    assert (
        conn.execute("SELECT * FROM sorted_heap.zonemap_verify('ei')").fetchall() == []
    )


@pytest.mark.crash
def test_crash(make_cluster, rng):
    """kill -9 while two sessions write: the index equals the table."""
    cluster = make_cluster("zonemap", full_page_writes="on")
    with cluster.connect() as conn:
        conn.execute("CREATE EXTENSION sorted_heap")
        conn.execute("CREATE TABLE t (id serial, k0 int, v int, filler text)")
        conn.execute("CREATE INDEX ti ON t USING zonemap (k0)")
        conn.execute("CREATE UNIQUE INDEX tu ON t USING zonemap (id)")
    for _ in range(2):
        started = threading.Barrier(3)

        def write(seed: float, started: threading.Barrier) -> None:
            own = random.Random(seed)
            try:
                mine = cluster.connect()
                started.wait()
                while True:
                    mine.execute(
                        "INSERT INTO t (k0) SELECT"
                        f" {own.choice(('g', '(random() * 1e6)::int'))}"
                        f" FROM generate_series(1, {own.randrange(1, 500)}) g"
                    )
                    if own.random() < 0.1:
                        mine.execute("CHECKPOINT")
                    if own.random() < 0.1:
                        mine.execute("DELETE FROM t WHERE id % 7 = 3")
                        mine.execute("VACUUM t")
            except psycopg.OperationalError:
                pass

        writers = [
            threading.Thread(target=write, args=[rng.random(), started])
            for _ in range(2)
        ]
        for writer in writers:
            writer.start()
        started.wait()
        time.sleep(rng.uniform(0.2, 1.5))
        cluster.crash()
        for writer in writers:
            writer.join()
        with cluster.connect() as conn:
            for index in ("ti", "tu"):
                assert (
                    conn.execute(
                        f"SELECT * FROM sorted_heap.zonemap_verify('{index}')"
                    ).fetchall()
                    == []
                )
