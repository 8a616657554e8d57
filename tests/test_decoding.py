"""Logical decoding of loads (I7): what a table of ours tells is what heap tells.

Twins do the same; test_decoding, which comes with the server, prints what each of
them told.  wal_consistency_checking compares pages on a standby.
"""

from __future__ import annotations

import re

import pytest
from strata import replica
from strata.twin import Twin
from strata.wait import wait_until

BULK = 4000


class LogicalDatabase:
    """What a Twin needs, on a cluster of the test's own, with a slot."""

    def __init__(self, cluster, am: str) -> None:
        self.cluster = cluster
        self.name = "decoded"
        self.am = am
        with cluster.connect() as conn:
            conn.execute("CREATE DATABASE decoded")
        with self.connect() as conn:
            conn.execute(f"CREATE EXTENSION {am}")

    def connect(self, **kwargs):
        return self.cluster.connect(self.name, **kwargs)

    def make_slot(self, name: str = "slot", *, twophase: bool = False) -> None:
        with self.connect() as conn:
            conn.execute(
                "SELECT pg_create_logical_replication_slot(%s, 'test_decoding', false, %s)",
                [name, twophase],
            )

    def changes(self, name: str = "slot", **options: str) -> list[str]:
        """All that the slot has, in order."""
        arguments = [x for pair in options.items() for x in pair]
        with self.connect() as conn:
            conn.execute("SET logical_decoding_work_mem = '64kB'")
            return [
                data
                for (data,) in conn.execute(
                    "SELECT data FROM pg_logical_slot_get_changes(%s, NULL, NULL,"
                    " VARIADIC %s::text[])",
                    [name, [a.replace("_", "-") for a in arguments]],
                )
            ]


@pytest.fixture
def database(make_cluster, am) -> LogicalDatabase:
    settings = {
        "wal_level": "logical",
        "wal_consistency_checking": "all",
        "max_prepared_transactions": "10",
    }
    return LogicalDatabase(make_cluster("decoded", **settings), am)


def rows_of(changes: list[str], schema: str) -> list[str]:
    """What was told of one schema's tables, as if they had none."""
    prefix = f"table {schema}."
    return [c.replace(prefix, "") for c in changes if c.startswith(prefix)]


def same(changes: list[str], *, by_table: bool = False) -> list[str]:
    """Both twins told the same, in the same order; returns it.

    by_table: one command wrote to several tables, whose rows may come in turns.
    """
    ours, heap = rows_of(changes, "ours"), rows_of(changes, "heap")
    if by_table:
        for rows in (ours, heap):
            rows.sort(key=lambda row: row.split(":")[0])
    for number, (left, right) in enumerate(zip(ours, heap, strict=False)):
        assert left == right, f"change {number}: {left[:200]} instead of {right[:200]}"
    assert len(ours) == len(heap)
    return ours


ROWS = (
    "SELECT i, CASE WHEN i % 3 > 0 THEN md5(i::text) END, i / 7.0,"
    " CASE WHEN i % 5 = 0 THEN jsonb_build_object('k', i) END, ARRAY[i, NULL]"
    f" FROM generate_series(1, {BULK}) i"
)
TABLE = "CREATE TABLE t (id int, v text, n numeric, j jsonb, a int[])"

# Statements and what they must tell at least.
LOADS = {
    "INSERT SELECT": ([TABLE, f"INSERT INTO t {ROWS}"], BULK),
    "CREATE TABLE AS": ([f"CREATE TABLE t (id, v, n, j, a) AS {ROWS}"], BULK),
    "from a table": (
        [
            f"CREATE TABLE source (id, v, n, j, a) USING heap AS {ROWS}",
            "ALTER TABLE source ADD extra int DEFAULT 7",
            "CREATE TABLE t (LIKE source)",
            "INSERT INTO t SELECT * FROM source",
        ],
        2 * BULK,
    ),
    "partitions": (
        [
            "CREATE TABLE t (id int, v text, n numeric, j jsonb, a int[])"
            " PARTITION BY RANGE (id)",
            f"CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO ({BULK // 2})",
            f"CREATE TABLE t2 PARTITION OF t FOR VALUES FROM ({BULK // 2}) TO (MAXVALUE)",
            f"INSERT INTO t {ROWS}",
        ],
        BULK,
    ),
    "rolled back": ([TABLE, "BEGIN", f"INSERT INTO t {ROWS}", "ROLLBACK"], 0),
    "savepoints": (
        [
            TABLE,
            "BEGIN",
            f"INSERT INTO t {ROWS}",
            "SAVEPOINT a",
            f"INSERT INTO t {ROWS}",
            "SAVEPOINT b",
            f"INSERT INTO t {ROWS}",
            "SELECT count(*) FROM t",
            "ROLLBACK TO a",
            "SELECT count(*) FROM t",
            "SAVEPOINT c",
            f"INSERT INTO t {ROWS}",
            "RELEASE c",
            "DELETE FROM t WHERE id = 1",
            "COMMIT",
        ],
        2 * BULK,
    ),
    "error in a subtransaction": (
        [
            TABLE,
            f"DO $$ BEGIN INSERT INTO t {ROWS}; BEGIN INSERT INTO t {ROWS};"
            " PERFORM count(*) FROM t; RAISE division_by_zero;"
            " EXCEPTION WHEN division_by_zero THEN NULL; END; END $$",
        ],
        BULK,
    ),
    "a subtransaction that fails": (
        [
            TABLE,
            "BEGIN",
            f"INSERT INTO t {ROWS}",
            "SAVEPOINT a",
            "SELECT 1 / 0",
            "ROLLBACK TO a",
            "COMMIT",
            "BEGIN",
            f"INSERT INTO t {ROWS}",
            "SAVEPOINT a",
            "SELECT 1 / 0",
            "ROLLBACK",
        ],
        BULK,
    ),
    "the table changes in the transaction": (
        [
            TABLE,
            "BEGIN",
            f"INSERT INTO t {ROWS}",
            "ALTER TABLE t ADD late text DEFAULT 'later'",
            f"INSERT INTO t {ROWS}",
            "ALTER TABLE t DROP v",
            f"INSERT INTO t SELECT i, i, NULL, NULL, 'x' FROM generate_series(1, {BULK}) i",
            "ALTER TABLE t ALTER id TYPE text",
            f"INSERT INTO t SELECT 'a' || i, i FROM generate_series(1, {BULK}) i",
            "COMMIT",
        ],
        4 * BULK,
    ),
    "AFTER triggers": (
        [
            TABLE,
            "CREATE TABLE audit (n int)",
            "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS"
            " 'BEGIN INSERT INTO audit VALUES (1); RETURN NULL; END'",
            "CREATE TRIGGER note AFTER INSERT ON t EXECUTE FUNCTION note()",
            f"INSERT INTO t {ROWS}",
            f"INSERT INTO t {ROWS}",
        ],
        2 * BULK + 2,
    ),
    "COPY FREEZE": ([TABLE, "BEGIN", "TRUNCATE t", "COPY t FREEZE", "COMMIT"], BULK),
    "COPY": ([TABLE, "COPY t"], BULK),
}


def run(twin: Twin, statement: str) -> None:
    if statement == "SELECT 1 / 0":
        twin.fails("22012", statement)
        return
    if not statement.startswith("COPY"):
        twin.ok(statement)
        return
    for conn in twin.conns.values():
        options = " WITH (FREEZE)" if "FREEZE" in statement else ""
        data = conn.execute(
            f"SELECT string_agg(concat_ws(E'\\t', id, coalesce(v, '\\N'), n,"
            f" coalesce(j::text, '\\N'), a), E'\\n') FROM ({ROWS}) r (id, v, n, j, a)"
        ).fetchone()[0]
        with (
            conn.cursor() as cursor,
            cursor.copy(f"COPY t FROM STDIN{options}") as copy,
        ):
            copy.write(data + "\n")


def row_groups(twin: Twin) -> int:
    (count,) = twin.ours.execute(
        f"SELECT count(*) FROM pg_class c, {twin.am}.row_groups(c.oid)"
        " WHERE relnamespace = 'ours'::regnamespace AND relkind = 'r'"
        f" AND relam = (SELECT oid FROM pg_am WHERE amname = '{twin.am}')"
    ).fetchone()
    return count


def test_loads_tell_what_heap_tells(database, am):
    database.make_slot()
    for name, (statements, count) in LOADS.items():
        twin = Twin(database, am)
        for statement in statements:
            run(twin, statement)
        told = same(database.changes(), by_table=name == "partitions")
        inserts = [c for c in told if ": INSERT:" in c]
        assert len(inserts) == count, name
        if count:
            assert row_groups(twin) > 0, f"{name}: all rows went to the delta"
        for schema, conn in twin.conns.items():
            conn.execute(f"DROP SCHEMA {schema} CASCADE")
            conn.close()
        database.changes()


def test_a_slot_turns_decoding_on(make_cluster, server, am):
    """From 19 on rows are logged for decoding while there is a slot.

    Sessions and tables that were there before are told by the server, which asks
    nobody to connect again.
    """
    if server.major < 19:
        pytest.skip("decoding is turned on by wal_level alone")
    cluster = make_cluster("turned_on", wal_level="replica")
    database = LogicalDatabase(cluster, am)
    twin = Twin(database, am)

    def level() -> str:
        return twin.ours.execute("SHOW effective_wal_level").fetchone()[0]

    def load(first: int) -> None:
        rows = f"generate_series({first}, {first + BULK}) i"
        twin.ok(f"INSERT INTO t SELECT i, 'row ' || i FROM {rows}")

    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    load(1)
    assert level() == "replica"
    database.make_slot()
    wait_until(lambda: level() == "logical", "decoding is on", 30)
    load(10_000)
    twin.ok("DELETE FROM t WHERE id IN (7, 10007)")
    told = same(database.changes())
    assert sum(": INSERT:" in c for c in told) >= BULK + 1
    assert sum(": DELETE:" in c for c in told) >= 2
    assert row_groups(twin) > 1, "rows went to the delta"
    with database.connect() as conn:
        conn.execute("SELECT pg_drop_replication_slot('slot')")
    wait_until(lambda: level() == "replica", "decoding is off", 60)
    load(20_000)
    database.make_slot()
    twin.ok("DELETE FROM t WHERE id IN (9, 20009)")
    same(database.changes())
    twin.check()


def test_a_subtransaction_reads_what_its_command_loads(database, am):
    """It writes the rows of a transaction above it, and is rolled back."""
    database.make_slot()
    twin = Twin(database, am)
    for statement in (
        "CREATE TABLE t (id int, v text)",
        "CREATE FUNCTION look(int) RETURNS int LANGUAGE plpgsql VOLATILE AS"
        " 'BEGIN IF $1 % 1500 = 0 THEN BEGIN PERFORM count(*) FROM t;"
        " INSERT INTO t VALUES (-$1, ''never'');"
        " RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END;"
        " END IF; RETURN $1; END'",
        "BEGIN",
        "SAVEPOINT a",
        f"INSERT INTO t SELECT look(i), 'row ' || i FROM generate_series(1, {4 * BULK}) i",
        "COMMIT",
    ):
        twin.ok(statement)
    twin.check()
    assert row_groups(twin) > 0
    assert len(same(database.changes())) == 4 * BULK


def test_long_rows(database, am):
    """Rows that do not fit into a record come with their long values ahead."""
    database.make_slot()
    twin = Twin(database, am)
    twin.ok("CREATE TABLE long (id int, v text, w text, b bytea) USING heap")
    for conn in twin.conns.values():
        conn.execute("ALTER TABLE long ALTER w SET STORAGE EXTERNAL")
    long = (
        "CASE WHEN i % {} = 0 THEN (SELECT string_agg(md5((i * k)::text), '')"
        " FROM generate_series(1, {}) k) END"
    )
    rows = (
        f"SELECT i, {long.format(200, 3000)}, {long.format(300, 900)},"
        f" convert_to({long.format(450, 6000)}, 'UTF8') FROM generate_series(1, 2700) i"
    )
    twin.ok(f"INSERT INTO long {rows}")
    # Values that are compressed, or toasted in another table.
    twin.ok("CREATE TABLE t (LIKE long)")
    twin.ok("INSERT INTO t SELECT id, v || repeat('x', 100000), w, b FROM long")
    twin.ok("INSERT INTO t SELECT * FROM long")
    twin.ok(f"INSERT INTO t {rows}")
    twin.check()
    assert row_groups(twin) > 1
    assert len(same(database.changes())) == 4 * 2700
    for conn in twin.conns.values():
        conn.execute("INSERT INTO t SELECT * FROM long")
    streamed = database.changes(stream_changes="1", include_xids="0")
    assert any("streaming change" in c for c in streamed)


def test_prepared_transactions(database, am):
    database.make_slot(twophase=True)
    twin = Twin(database, am)
    twin.ok(TABLE)
    for schema, conn in twin.conns.items():
        for end in ("COMMIT", "ROLLBACK"):
            conn.execute("BEGIN")
            conn.execute(f"INSERT INTO t {ROWS}")
            conn.execute(f"PREPARE TRANSACTION '{schema} {end}'")
    told = database.changes()
    assert len([c for c in told if c.startswith("PREPARE TRANSACTION")]) == 4
    assert len(same(told)) == 2 * BULK
    for schema, conn in twin.conns.items():
        for end in ("COMMIT", "ROLLBACK"):
            conn.execute(f"{end} PREPARED '{schema} {end}'")
    assert same(database.changes()) == []
    twin.check()


def test_compaction_is_not_seen(database, am):
    """Neither of rows that load into the delta, nor of links of undone updates."""
    twin = Twin(database, am)
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok("ALTER TABLE t REPLICA IDENTITY FULL")
    for n in range(6):
        twin.ok(
            f"INSERT INTO t SELECT i + 900 * {n}, repeat('long', (i % 200 = 0)::int * 5000)"
            " || i FROM generate_series(1, 900) i"
        )
    twin.ok("VACUUM t")
    for update in ("v = 'undone'", "id = -id"):
        twin.ok("BEGIN")
        twin.ok(f"UPDATE t SET {update} WHERE id % 3 = 0")
        twin.ok("ROLLBACK")
    database.make_slot()
    twin.ours.execute(f"CALL {am}.merge('t')")
    (delta,) = twin.ours.execute(
        f"SELECT 5400 - sum(rows) FROM {am}.row_groups('t')"
    ).fetchone()
    assert delta == 0
    changes = database.changes()
    assert changes and all(re.match("BEGIN|COMMIT", c) for c in changes), changes[:5]
    twin.check()
    # Loads, deletions and updates of moved rows are told as ever.
    twin.ok("DELETE FROM t WHERE id % 100 = 0")
    assert len(same(database.changes())) == 54


def test_compaction_of_sorted_heap_is_not_seen(database):
    """By a plugin that prints all it gets: moves are neither deletes nor inserts."""
    with database.connect() as conn:
        conn.execute("CREATE EXTENSION sorted_heap")
        conn.execute("CREATE TABLE t (id int, v text) USING sorted_heap")
        conn.execute("CREATE INDEX ON t USING zonemap (id)")
        database.make_slot()
        conn.execute(
            f"INSERT INTO t SELECT i * 7919 % {BULK}, md5(i::text) FROM generate_series(1, {BULK}) i"
        )
        assert sum(": INSERT:" in c for c in database.changes()) == BULK
        place = "SELECT string_agg(ctid::text, ',' ORDER BY id) FROM t"
        before = conn.execute(place).fetchone()
        conn.execute("CALL sorted_heap.compact('t')")
        conn.execute("INSERT INTO t VALUES (17, 'between')")
        conn.execute("CALL sorted_heap.merge('t')")
        assert conn.execute(place).fetchone() != before
        told = [c for c in database.changes() if c.startswith("table ")]
        assert told == ["table public.t: INSERT: id[integer]:17 v[text]:'between'"]


def test_origins(database, am):
    """What a session replays for another server has that server's name on it."""
    database.make_slot()
    with database.connect() as conn:
        conn.execute("SELECT pg_replication_origin_create('far')")
    twin = Twin(database, am)
    twin.ok(TABLE)
    twin.ok(f"INSERT INTO t {ROWS}")
    for conn in twin.conns.values():
        conn.execute("SELECT pg_replication_origin_session_setup('far')")
        conn.execute("BEGIN")
        conn.execute("SELECT pg_replication_origin_xact_setup('0/1234', '2026-01-01')")
        conn.execute(f"INSERT INTO t {ROWS}")
        conn.execute("UPDATE t SET v = 'far' WHERE id = 5")
        conn.execute("DELETE FROM t WHERE id = 6")
        conn.execute("COMMIT")
        conn.execute("SELECT pg_replication_origin_session_reset()")
    twin.ok("DELETE FROM t WHERE id = 7")
    with database.connect() as conn:
        conn.execute("SELECT pg_copy_logical_replication_slot('slot', 'all')")
    near = same(database.changes(only_local="1"))
    assert sum(": INSERT:" in c for c in near) == BULK
    assert sum(": DELETE:" in c for c in near) == 2
    everything = same(database.changes("all"))
    assert sum(": INSERT:" in c for c in everything) == 2 * BULK
    assert row_groups(twin) > 0


def test_rewrites_are_no_inserts(database, am):
    """Of a table that ALTER TABLE or VACUUM FULL writes anew, nothing is told."""
    database.make_slot()
    twin = Twin(database, am)
    twin.ok(TABLE)
    twin.ok("ALTER TABLE t ADD PRIMARY KEY (id)")
    twin.ok(f"INSERT INTO t {ROWS}")
    twin.ok("ALTER TABLE t ALTER id TYPE bigint")
    for conn in twin.conns.values():
        conn.execute("VACUUM FULL t")
    twin.ok("INSERT INTO t SELECT 0, 'last', 1, NULL, NULL")
    twin.ok("DELETE FROM t WHERE id = 6")
    told = same(database.changes())
    assert [c.split(":")[1] for c in told] == (BULK + 1) * [" INSERT"] + [" DELETE"]
    assert row_groups(twin) > 0


def test_an_owner_without_decoders(database, am):
    database.make_slot()
    with database.connect() as conn:
        conn.execute(f"{TABLE} USING {am}")
        conn.execute(f"SELECT {am}.set_options('t', logical_inserts => false)")
        conn.execute(f"INSERT INTO t {ROWS}")
        conn.execute("DELETE FROM t WHERE id = 3000")
        conn.execute(f"SELECT {am}.set_options('t', logical_inserts => true)")
    first = rows_of(database.changes(), "public")
    # What goes to the delta is heap's.
    assert len(first) == 1000
    with database.connect() as conn:
        conn.execute(f"INSERT INTO t {ROWS}")
    assert len(rows_of(database.changes(), "public")) == BULK


@pytest.mark.crash
def test_redo_needs_no_library(database, make_cluster, am):
    """A standby compares pages as it replays, and the primary dies."""
    twin = Twin(database, am)
    standby = replica.make_standby(
        database.cluster, make_cluster("standby", data=False)
    )
    twin.ok("CREATE TABLE t (id int PRIMARY KEY, v text)")
    twin.ok(
        "INSERT INTO t SELECT i, repeat(md5(i::text), (i % 1000 = 0)::int * 3000 + 1)"
        f" FROM generate_series(1, {BULK}) i"
    )
    twin.ok("INSERT INTO t SELECT -i, 'delta' FROM generate_series(1, 900) i")
    twin.ok("VACUUM t")
    twin.ours.execute(f"CALL {am}.merge('t')")
    twin.ok("DELETE FROM t WHERE id % 7 = 0")
    with standby.connect() as conn:
        (pid,) = conn.execute(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup'"
        ).fetchone()
    replica.catch_up(database.cluster, standby)
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        assert am not in maps.read()
    database.cluster.crash()
    for cluster in (standby, database.cluster):
        with cluster.connect("decoded") as conn:
            problems = conn.execute(f"SELECT * FROM {am}.verify('ours.t')").fetchall()
            assert problems == []
            assert conn.execute(
                "SELECT count(*) FROM (TABLE ours.t EXCEPT ALL TABLE heap.t) d"
            ).fetchone() == (0,)
            ours, heap = (
                conn.execute(f"SELECT count(*) FROM {s}.t").fetchone()
                for s in ("ours", "heap")
            )
            assert ours == heap


def test_pg_waldump_reads_the_records(database, am):
    with database.connect() as conn:
        conn.execute(f"{TABLE} USING {am}")
        start = replica.lsn(database.cluster)
        conn.execute(f"INSERT INTO t {ROWS}")
        end = replica.lsn(database.cluster)
    out = database.cluster.server.run(
        "pg_waldump", "-p", database.cluster.data / "pg_wal", "-s", start, "-e", end,
        "-r", "Heap2",
    ).stdout  # fmt: skip
    records = [line for line in out.splitlines() if "MULTI_INSERT" in line]
    assert any("FPW" in line for line in records), out[:1000]


@pytest.mark.slow
def test_subscriber(database, make_cluster, am):
    """Column lists, row filters, long rows, streamed transactions, prepared ones."""
    subscriber = LogicalDatabase(
        make_cluster("subscriber", max_prepared_transactions="10"), am
    )
    left, right = database.connect(), subscriber.connect()
    for conn in (left, right):
        conn.execute(f"CREATE TABLE t (id int PRIMARY KEY, v text, k int) USING {am}")
    left.execute(f"CREATE TABLE part (id int PRIMARY KEY, v text, k int) USING {am}")
    right.execute(f"CREATE TABLE part (id int PRIMARY KEY, k int) USING {am}")
    left.execute("CREATE PUBLICATION p FOR TABLE t, part (id, k) WHERE (id % 2 = 0)")
    left.execute("ALTER SYSTEM SET logical_decoding_work_mem = '64kB'")
    left.execute("SELECT pg_reload_conf()")
    right.execute(
        f"CREATE SUBSCRIPTION s CONNECTION '{database.cluster.dsn('decoded')}'"
        " PUBLICATION p WITH (streaming = on, two_phase = on)"
    )
    wait_until(
        lambda: right.execute(
            "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate = 'r'"
        ).fetchone() == (2,),
        "the initial copy", 60,
    )  # fmt: skip

    def same_tables(what: str) -> None:
        for query in (
            ("SELECT id, v, k FROM t ORDER BY id",) * 2,
            ("SELECT id, k FROM part WHERE id % 2 = 0 ORDER BY id",
             "SELECT id, k FROM part ORDER BY id"),
        ):  # fmt: skip
            expected = left.execute(query[0]).fetchall()
            wait_until(
                lambda q=query[1], e=expected: right.execute(q).fetchall() == e,
                what,
                90,
            )

    long = "repeat(md5(i::text), (i % 500 = 0)::int * 3000 + 1)"
    left.execute(f"INSERT INTO t SELECT i, {long}, i FROM generate_series(1, {BULK}) i")
    left.execute(
        f"INSERT INTO part SELECT i, {long}, i FROM generate_series(1, {BULK}) i"
    )
    same_tables("loads")
    left.execute("BEGIN")
    for n in range(1, 5):
        left.execute(f"SAVEPOINT s{n}")
        left.execute(
            f"INSERT INTO t SELECT i + {n * BULK}, {long}, {n} FROM generate_series(1, {BULK}) i"
        )
        if n % 2:
            left.execute(f"ROLLBACK TO s{n}")
    left.execute("DELETE FROM t WHERE id % 10 = 0")
    left.execute("UPDATE t SET v = 'changed' WHERE id % 11 = 0")
    left.execute("COMMIT")
    same_tables("a streamed transaction")
    left.execute("BEGIN")
    left.execute(
        f"INSERT INTO t SELECT -i, {long}, i FROM generate_series(1, {BULK}) i"
    )
    left.execute("PREPARE TRANSACTION 'p'")
    left.execute("COMMIT PREPARED 'p'")
    same_tables("a prepared transaction")
    left.execute(f"CALL {am}.merge('t')")
    left.execute("UPDATE t SET k = -1 WHERE id % 13 = 0")
    same_tables("changes after a merge")
    right.execute("DROP SUBSCRIPTION s")
