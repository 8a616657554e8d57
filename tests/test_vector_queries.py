"""Random queries give heap's rows or errors, with every optimisation on and off.

Where heap gives rows, so do we.  Where heap raises an error, we raise one of the
same SQLSTATE, with these exceptions, each of which is checked against heap row by
row (class Errors):
 - another row, or another expression of the query, raises ours: vectors are
   evaluated expression by expression, so the one that comes first may differ;
 - none is raised, because each row that raises heap's is rejected by another
   condition, which was evaluated before, or is not among those that ORDER BY and
   LIMIT return, so that nobody computed its output.

SECONDS=n runs the generator that long instead of a fixed number of queries;
SEED repeats a run.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
import threading
import time
from collections import Counter
from decimal import Decimal

import psycopg
import pytest
from psycopg.types.string import TextLoader
from strata.queries import COLUMNS, Generator, rows_sql, share
from strata.timing import ends_soon

ROWS = 12000
QUERIES = share(150)
INDEXES = "(i4) (j4) (t) (d) (n2) gin(a) gin(j)"
FORCE_BITMAPS = (
    "SET enable_seqscan = off",
    "SET enable_indexscan = off",
    "SET enable_indexonlyscan = off",
    "SET cpu_tuple_cost = 0",
)
SMITH_SECONDS = 15
SMITH_START = 120


def load(conn, am: str) -> None:
    """A table of row groups, a delta, deleted and updated rows, and its twin."""
    for name, own in (("ours", am), ("heap", "heap")):
        conn.execute(f"CREATE TABLE {name} ({COLUMNS}) USING {own}")
        if name == "ours":
            conn.execute(f"SELECT {am}.set_options('ours', row_group_rows => 4096)")
        conn.execute(f"INSERT INTO {name} {rows_sql(1, ROWS, 7)}")
        conn.execute(f"INSERT INTO {name} {rows_sql(ROWS + 1, ROWS + 60, 8)}")
        conn.execute(f"DELETE FROM {name} WHERE k % 37 = 5 OR (j4 = 0 AND k % 2 = 0)")
        conn.execute(f"UPDATE {name} SET i4 = 7, t = 'blue' WHERE k % 101 = 3")
        for index in INDEXES.split() if name == "ours" else []:
            method, columns = index.split("(")
            conn.execute(f"CREATE INDEX ON {name} USING {method or 'btree'} ({columns}")
        conn.execute(f"ANALYZE {name}")


def show_text(conn) -> None:
    """Types of which Python has not all values come as text."""
    for name in ("date", "timestamp", "timestamptz", "interval"):
        conn.adapters.register_loader(name, TextLoader)


def switches(conn, am: str) -> list[str]:
    conn.execute(f"LOAD '{am}'")
    return [
        row[0]
        for row in conn.execute(
            f"SELECT name FROM pg_settings WHERE name ~ '^{am}\\.enable_'"
            " AND context = 'user'"
        )
    ]


def set_plan(conn, rng, names: list[str]) -> list[str]:
    """Switches some optimisations off, and parallel plans on or off."""
    conn.execute("RESET ALL")
    settings = ["SET timezone = 'Europe/Berlin'"]
    if rng.random() < 0.5:
        settings += [f"SET {name} = off" for name in names if rng.random() < 0.2]
    if rng.random() < 0.3:
        settings += [
            "SET parallel_setup_cost = 0",
            "SET parallel_tuple_cost = 0",
            "SET min_parallel_table_scan_size = 0",
        ]
        # states of groups cost nothing: partitions of them; much: shares of a key
        settings += rng.choice(
            ([], ["SET cpu_operator_cost = 0"], ["SET cpu_operator_cost = 1"])
        )
    else:
        settings += ["SET max_parallel_workers_per_gather = 0"]
    if rng.random() < 0.2:
        settings += ["SET work_mem = '64kB'"]
    if rng.random() < 0.2:
        settings += ["SET enable_hashagg = off"]
    if rng.random() < 0.4:
        settings += FORCE_BITMAPS
    for setting in settings:
        conn.execute(setting)
    return settings


def alike(one, two) -> bool:
    """Equal, floats up to the order of their sums."""
    if isinstance(one, float) and isinstance(two, float):
        if math.isnan(one) or math.isnan(two):
            return math.isnan(one) and math.isnan(two)
        # a difference of large terms may be anything: sums are the user's risk
        return one == two or math.isclose(one, two, rel_tol=1e-4, abs_tol=1e-3)
    return repr(one) == repr(two)


def without_scale(rows: list) -> list:
    """1.0 and 1.00, 0 and -0 are one group: which of them stands for it is chance."""

    def plain(v):
        if isinstance(v, Decimal):
            return v.normalize() + 0
        return v + 0.0 if isinstance(v, float) else v

    return [tuple(map(plain, row)) for row in rows]


def same_rows(ours: list, heap: list) -> bool:
    if Counter(map(repr, ours)) == Counter(map(repr, heap)):
        return True
    if len(ours) != len(heap):
        return False
    key = repr
    return all(
        len(a) == len(b) and all(map(alike, a, b))
        for a, b in zip(sorted(ours, key=key), sorted(heap, key=key), strict=True)
    )


def outcome(conn, sql: str):
    """Rows and None, or None and an SQLSTATE."""
    try:
        return conn.execute(sql).fetchall(), None
    except psycopg.Error as error:
        if not error.sqlstate or error.sqlstate.startswith(("57", "XX", "08")):
            raise
        return None, error.sqlstate


class Errors:
    """Which rows of heap's table raise what, each on its own."""

    def __init__(self, conn):
        self.conn = conn

    def states(self, query: str) -> dict[int, str]:
        """By k, of rows for which a query of the one row raises an error."""
        alone = query.replace("TBL", "(SELECT (r).* OFFSET 0)")
        return self._by_row(f"FOR found IN {alone} LOOP NULL; END LOOP; RETURN NULL;")

    def rejected(self, condition: str) -> set[int]:
        """Rows that the condition leaves out, without an error."""
        verdicts = self._by_row(
            f"RETURN CASE WHEN (SELECT {condition} FROM (SELECT (r).* OFFSET 0) AS tbl)"
            " THEN NULL ELSE 'rejected' END;"
        )
        return {k for k, verdict in verdicts.items() if verdict == "rejected"}

    def _by_row(self, body: str) -> dict[int, str]:
        self.conn.execute(
            "CREATE OR REPLACE FUNCTION pg_temp.of_row(r heap) RETURNS text"
            f" LANGUAGE plpgsql AS $f$ DECLARE found record; BEGIN {body}"
            " EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END $f$"
        )
        return dict(
            self.conn.execute(
                "SELECT * FROM (SELECT k, pg_temp.of_row(heap) AS state FROM heap) x"
                " WHERE state IS NOT NULL"
            ).fetchall()
        )

    def silent(self, generator: Generator, query: str, ours: list) -> str | None:
        """Heap raised an error, we did not: what is wrong with that, if anything."""
        left = set(self.states(query))
        if not left:
            return "no single row raises an error"
        if len(generator.conditions) > 1:
            for condition in generator.conditions:
                left -= self.rejected(condition)
        if generator.limited:
            left -= left - {row[0] for row in ours}
        return f"rows {sorted(left)[:3]} raise an error" if left else None

    def other(self, generator: Generator, query: str, state: str) -> str | None:
        """We raised another error than heap's."""
        if state in self.states(query).values():
            return None
        for part in (*generator.outputs, *generator.conditions):
            if state in self.states(f"SELECT {part} FROM TBL tbl").values():
                return None
        return f"nothing in the query raises {state}"


def without_limit(query: str) -> str:
    return re.sub(r" LIMIT .*", "", query)


def is_order_partial(conn, query: str) -> bool:
    """Before 18 the server takes a key of grouping sets that is a constant, or equal
    to another key, out of ORDER BY, although it is NULL in some sets: which rows a
    LIMIT leaves is chance."""
    sets = re.search(r"(ROLLUP|CUBE|GROUPING SETS) \(", query)
    return bool(sets) and " LIMIT " in query and conn.info.server_version < 180000


def fails_without_limit(conn, table: str, query: str, state: str) -> bool:
    """A plan of the server in order of the groups ends at the LIMIT, before rows
    that raise errors. DISTINCT of constants is LIMIT 1 from 16 on."""
    query = query.replace("TBL", table)
    plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {query}"))
    whole = without_limit(query)
    if whole == query and plan.startswith("Limit"):
        whole = query.replace("DISTINCT ", "", 1)
    if whole == query:
        return False
    return "Aggregate)" not in plan and outcome(conn, whole)[1] == state


def fails_without_index(conn, query: str, state: str) -> bool:
    """min and max by an index end at the first row that passes, before rows that
    raise errors."""
    query = query.replace("TBL", "ours")
    plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {query}"))
    if "InitPlan" not in plan or "Limit" not in plan:
        return False
    names = ("enable_indexscan", "enable_indexonlyscan")
    before = [conn.execute(f"SHOW {name}").fetchone()[0] for name in names]
    for name in names:
        conn.execute(f"SET {name} = off")
    without = outcome(conn, query)[1]
    for name, value in zip(names, before, strict=True):
        conn.execute(f"SET {name} = {value}")
    return without == state


def compare(conn, generator: Generator, query: str) -> str | None:
    """What differs, if anything does."""
    heap, heap_state = outcome(conn, query.replace("TBL", "heap"))
    ours, state = outcome(conn, query.replace("TBL", "ours"))
    if heap_state:
        if state == heap_state:
            return None
        if not state and (
            fails_without_limit(conn, "ours", query, heap_state)
            or fails_without_index(conn, query, heap_state)
        ):
            return None
        errors = Errors(conn)
        fault = (
            errors.other(generator, query, state)
            if state
            else errors.silent(generator, query, ours)
        )
        return fault and f"heap raises {heap_state}, ours {state}: {fault}"
    if state:
        if fails_without_limit(conn, "heap", query, state):
            return None
        return f"heap gives {len(heap)} rows, ours raises {state}"
    if re.search(r"DISTINCT|GROUP BY|UNION|INTERSECT|EXCEPT|min\(|max\(", query):
        ours, heap = without_scale(ours), without_scale(heap)
    if same_rows(ours, heap):
        return None
    if is_order_partial(conn, query):
        return compare(conn, generator, without_limit(query))
    lost = Counter(map(repr, heap)) - Counter(map(repr, ours))
    more = Counter(map(repr, ours)) - Counter(map(repr, heap))
    return f"lost {list(lost)[:3]}, more {list(more)[:3]}"


def run(conn, am: str, rng, queries: int, seconds: float = 0) -> list[str]:
    show_text(conn)
    generator = Generator(rng)
    names = switches(conn, am)
    assert len(names) > 3
    faults = []
    done = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end if seconds else done < queries:
        settings = set_plan(conn, rng, names)
        for _ in range(10):
            query = generator.query()
            done += 1
            fault = compare(conn, generator, query)
            if fault:
                faults.append("\n".join([*settings, query, "-- " + fault]))
                if len(faults) >= 5:
                    return faults
    return faults


def is_bitmap_driven(conn, am: str) -> bool:
    for setting in FORCE_BITMAPS:
        conn.execute(setting)
    sql = "EXPLAIN SELECT count(*), sum(k) FROM ours WHERE i4 < 9 OR a @> '{t1}'"
    plan = "\n".join(line for (line,) in conn.execute(sql))
    conn.execute("RESET ALL")
    return f"({am.capitalize()}Scan)" in plan and "BitmapOr" in plan


def test_queries(conn, am, rng):
    load(conn, am)
    assert is_bitmap_driven(conn, am)
    seconds = float(os.environ.get("SECONDS", 0))
    faults = run(conn, am, rng, QUERIES, seconds)
    assert not faults, "\n\n".join(faults)


def is_up(conn) -> bool:
    return conn.execute("SELECT true").fetchone() == (True,)


def test_sums_where_most_rows_are_left(conn, am):
    """Sums go over bits of rows then, in eights: with gaps anywhere, and at each end."""
    values = (
        "SELECT i, (hashint8extended(i, 1) >> 2)::int8 AS a, hashint8(i)::int4 AS b,"
        " (hashint8extended(i, 2) % 100000000000)::numeric / 100 AS c,"
        " CASE WHEN i % 11 > 0 THEN i END AS d FROM generate_series(1, 3001) i"
    )
    query = "SELECT count(*), sum(a), sum(b), sum(c), sum(d), avg(b), max(a) FROM {}"
    gaps = ["i % 2 = 0", "i % 3 = 1", "i % 64 = 63", "i % 64 IN (0, 1)", "i % 7 = 0"]
    gaps += ["i % 13 < 4", "i > 2990", "i < 20", "i BETWEEN 1000 AND 1100", "i = 3001"]
    conn.execute(f"CREATE TABLE h AS {values}")
    for gap in gaps:
        conn.execute(f"CREATE TABLE t USING {am} AS {values}")
        conn.execute(f"SELECT {am}.set_options('t', auto_compact => false)")
        conn.execute(f"DELETE FROM t WHERE {gap}")
        expected = conn.execute(query.format(f"h WHERE NOT ({gap})")).fetchone()
        assert conn.execute(query.format("t")).fetchone() == expected, gap
        some = query.format("t WHERE b % 5 > 0")
        expected = conn.execute(query.format(f"h WHERE NOT ({gap}) AND b % 5 > 0"))
        assert conn.execute(some).fetchone() == expected.fetchone(), gap
        conn.execute("DROP TABLE t")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("sqlsmith"), reason="sqlsmith is not installed")
def test_sqlsmith(db, conn, am, rng):
    """Nothing that sqlsmith makes up crashes the server, which would end conn.

    It runs as a role of its own: sqlsmith calls every function it may."""
    load(conn, am)
    conn.execute("CREATE ROLE smith LOGIN")
    conn.execute("GRANT ALL ON ours, heap TO smith")
    seconds = float(os.environ.get("SECONDS", SMITH_SECONDS))
    smith = subprocess.Popen(
        ["sqlsmith", f"--target={db.cluster.dsn(db.name, 'smith')}",
         "--exclude-catalog", f"--seed={rng.randrange(2**31)}"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    stop = threading.Timer(seconds + SMITH_START, smith.kill)
    stop.start()
    try:
        # it reads the whole catalog before it begins
        assert any(b"Generating indexes" in line for line in smith.stderr)
        with contextlib.suppress(subprocess.TimeoutExpired):
            smith.wait(seconds)
    finally:
        stop.cancel()
        smith.kill()
        smith.communicate()
    assert is_up(conn)
    conn.execute("DROP OWNED BY smith")
    conn.execute("DROP ROLE smith")


JOINS = share(120)
OTHERS = """CREATE TABLE b AS SELECT i AS id, i % 250 * 3 AS k8, i % 90 AS k4,
 'x' || i % 60 AS t, CASE i % 4 WHEN 0 THEN 'NaN'::numeric WHEN 1 THEN 1.0
 WHEN 2 THEN NULL ELSE i % 25 END AS n, CASE i % 4 WHEN 0 THEN 'NaN'::float8
 WHEN 1 THEN '-0' WHEN 2 THEN NULL ELSE i % 12 END AS f, i * 1.25 AS amount,
 'v' || i % 33 AS v, date '2020-01-10' + i % 60 AS d
 FROM generate_series(1, 700) i"""
JOIN_TABLE = """CREATE TABLE {name} (k8 bigint, k4 int, k2 smallint, n numeric, f float8,
 t text, c text COLLATE nocase, bp char(5), d date) USING {am}"""
JOIN_ROWS = """INSERT INTO {name} SELECT i % 500, CASE WHEN i % 17 <> 0 THEN i % 300 END,
 i % 7, CASE i % 5 WHEN 0 THEN 1.0 WHEN 1 THEN 1.00 WHEN 2 THEN 'NaN'::numeric
 WHEN 3 THEN NULL ELSE i % 20 END, CASE i % 6 WHEN 0 THEN '-0' WHEN 1 THEN 0
 WHEN 2 THEN 'NaN'::float8 WHEN 3 THEN NULL ELSE i % 10 END,
 CASE WHEN i % 11 <> 0 THEN 'x' || i % 50 END,
 CASE i % 3 WHEN 0 THEN 'abc' WHEN 1 THEN 'ABC' ELSE 'd' || i % 5 END, 'v' || i % 9,
 date '2020-01-01' + i % 40 FROM generate_series({first}, {last}) i"""


class Joins:
    """Makes up joins of table TBL, twice or thrice, to b or to its twin of ours, OTH."""

    def __init__(self, rng):
        self.rng = rng

    def key(self, x: str, y: str, own: bool) -> str:
        columns = ["k8", "k4", "n", "f", "t", "d"] + (["c", "bp", "k2"] if own else [])
        column = self.rng.choice(columns)
        keys = [f"{x}.{column} = {y}.{column}"] * 5
        keys += [
            f"{x}.k8 = {y}.k4",
            f"{x}.k4 + 1 = {y}.k8 - 1",
            f"lower({x}.t) = {y}.t",
        ]
        return self.rng.choice(keys)

    def conditions(self, x: str, y: str, own: bool) -> str:
        found = [self.key(x, y, own)]
        while self.rng.random() < 0.4:
            found.append(self.key(x, y, own))
        if self.rng.random() < 0.4:
            found.append(self.rng.choice((
                f"{x}.d < {y}.d", f"{x}.k8 + {y}.k4 > 100", f"{x}.n > {y}.n",
                f"{x}.f > 0 OR {y}.f IS NULL", f"length({x}.t || {y}.t) > 5",
            )))  # fmt: skip
        return " AND ".join(f"({c})" for c in found)

    def query(self) -> str:
        rng = self.rng
        where = rng.choice(("x.k4 < 60", "x.k2 = 3", "x.t IS NOT NULL AND x.k8 < 90"))
        on = self.conditions("x", "y", False)
        if rng.random() < 0.3:
            negation = rng.choice(("", "NOT "))
            return (
                "SELECT x.k2, count(*), sum(x.n), max(x.t) FROM TBL x WHERE"
                f" {where} AND {negation}EXISTS (SELECT FROM OTH y WHERE {on}) GROUP BY 1"
            )
        kind = rng.choice(("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        source = f"TBL x {kind} OTH y ON {on}"
        if rng.random() < 0.4:
            # a condition above would make the join an inner one
            source = (
                f"(SELECT * FROM TBL x WHERE {where}) x {kind}"
                f" (SELECT * FROM OTH y WHERE {rng.choice(('true', 'y.k4 < 30'))}) y ON {on}"
            )
            where = rng.choice(("true", "x.k4 IS NULL OR x.k4 > 4"))
        for name in "zw"[: rng.choice((0, 0, 1, 2))]:
            kind = rng.choice(("JOIN", "LEFT JOIN"))
            source += f" {kind} {rng.choice(('TBL', 'OTH'))} {name} ON x.k8 = {name}.k8"
            source += f" AND x.d = {name}.d AND {name}.k4 < 40"
        if rng.random() < 0.3:
            where += rng.choice(
                (" AND y.v IS NULL", " AND coalesce(y.amount, 1) < 200")
            )
        out = rng.choice((
            "SELECT count(*), sum(x.k4), sum(y.amount * x.k8), max(y.v), count(y.n)",
            "SELECT y.v, x.t, count(*), sum(y.amount + x.k4), min(x.f)",
            "SELECT x.k8, x.n, x.f, x.t, x.c, y.v, y.amount, y.n, y.f",
        ))  # fmt: skip
        group = " GROUP BY 1, 2" if out.startswith("SELECT y.v") else ""
        return f"{out} FROM {source} WHERE {where}{group}"


def load_joins(conn, am: str) -> None:
    conn.execute(
        "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2',"
        " deterministic = false)"
    )
    for name, own in (("ours", am), ("heap", "heap")):
        conn.execute(JOIN_TABLE.format(name=name, am=own))
        conn.execute(JOIN_ROWS.format(name=name, first=1, last=3000))
        conn.execute(JOIN_ROWS.format(name=name, first=3001, last=3200))
        conn.execute(f"DELETE FROM {name} WHERE k8 % 37 = 5")
    conn.execute(OTHERS)
    conn.execute(f"CREATE TABLE b_ours (LIKE b) USING {am}")
    conn.execute("INSERT INTO b_ours TABLE b")
    conn.execute("ANALYZE")


def set_joins(conn, rng, am: str, names: list[str]) -> list[str]:
    settings = set_plan(conn, rng, names)
    if rng.random() < 0.8:
        more = ["SET enable_mergejoin = off", "SET enable_nestloop = off",
                f"SET {am}.enable_vector_join = on"]  # fmt: skip
        if rng.random() < 0.5:
            # the planner does not know that there is so little memory
            more += ["SET hash_mem_multiplier = 1", "SET work_mem = '64kB'"]
        if rng.random() < 0.4:
            # participants of a join of vectors, with the leader or without
            more += ["SET max_parallel_workers_per_gather = 2",
                     "SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0",
                     "SET min_parallel_table_scan_size = 0",
                     "SET enable_parallel_hash = off",
                     f"SET parallel_leader_participation = {rng.choice(('on', 'off'))}"]  # fmt: skip
        for setting in more:
            conn.execute(setting)
        settings += more
    return settings


def test_joins(conn, am, rng):
    """Joins in memory and on disk give heap's rows, whatever is on and off."""
    load_joins(conn, am)
    show_text(conn)
    names = switches(conn, am)
    joins = Joins(rng)
    vectors = 0
    done = 0
    end = time.monotonic() + float(os.environ.get("SECONDS", 0))
    while done < JOINS or time.monotonic() < end:
        settings = set_joins(conn, rng, am, names)
        query = joins.query()
        done += 1
        ours = query.replace("TBL", "ours").replace("OTH", rng.choice(("b", "b_ours")))
        plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {ours}"))
        vectors += f"({am.capitalize()}Join)" in plan
        rows = without_scale(conn.execute(ours).fetchall())
        heap = query.replace("TBL", "heap").replace("OTH", "b")
        expected = without_scale(conn.execute(heap).fetchall())
        assert same_rows(rows, expected), "\n".join([*settings, ours, plan])
    assert vectors > done / 4


MANY = """CREATE TABLE many (id int, few int, t text) USING {am};
 INSERT INTO many SELECT i, i % 5, 't' || i FROM generate_series(1, 30000) i;
 CREATE FUNCTION endless() RETURNS SETOF int ROWS 10 LANGUAGE sql VOLATILE PARALLEL SAFE AS
 'SELECT generate_series(1, 1000000000)';
 ANALYZE many"""
LONG = {
    "gathered": "SELECT sum(x.id) FROM many x JOIN many y ON x.few = y.few"
    " JOIN many z ON y.few = z.few",
    "first match": "SELECT count(*) FROM many x WHERE EXISTS"
    " (SELECT FROM many y WHERE y.few / 5 = x.few / 5 AND y.id > x.id + 40000)",
    "build side": "SELECT count(*) FROM many x JOIN endless() y ON x.id = y",
}


@pytest.mark.parametrize("workers", (0, 2))
@pytest.mark.parametrize("what", LONG)
def test_join_cancelled(conn, am, what, workers):
    """A join of vectors ends soon after it was cancelled, in memory and on disk."""
    conn.execute(MANY.format(am=am))
    for setting in (f"max_parallel_workers_per_gather = {workers}", "enable_mergejoin = off",
                    "enable_nestloop = off", "work_mem = '2MB'", "parallel_setup_cost = 0",
                    "min_parallel_table_scan_size = 0"):  # fmt: skip
        conn.execute(f"SET {setting}")
    plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {LONG[what]}"))
    assert f"({am.capitalize()}Join)" in plan, plan
    parallel = f"Parallel Custom Scan ({am.capitalize()}Join)" in plan
    assert parallel == (workers > 0), plan
    conn.execute("SET statement_timeout = '300ms'")
    with ends_soon(conn, 1.3), pytest.raises(psycopg.errors.QueryCanceled):
        conn.execute(LONG[what])


# Values whose zones are hard to get right: type, value of row g, conditions.
HARD = {
    **{
        f"cut behind {n} bytes, {first} first": (
            "text",
            f"repeat('a', {n}) || CASE WHEN (g < 8000) = ('{first}' = 'é')"
            " THEN 'é' ELSE 'z' END || CASE g % 9 WHEN 0 THEN 'é' WHEN 1 THEN 'b' ELSE '' END",
            [
                f"x {op} repeat('a', {n}) || '{end}' COLLATE \"C\""
                for op in ("=", "<", "<=", ">", ">=", "<>")
                for end in ("z", "é", "éé", "éb", "y")
            ],
        )
        for n in (21, 22, 23)
        for first in ("é", "z")
    },
    "gap": (
        "timestamp",
        "timestamp '2021-03-14 01:00' + g * interval '1 second'",
        [
            f"x {op} timestamptz '2021-03-14 0{at}+00'"
            for op in ("=", "<", "<=", ">", ">=", "<>")
            for at in ("6:59", "7:00", "7:15", "7:30", "7:59:59", "8:00")
        ]
        + ["x = ANY ('{2021-03-14 07:30+00,2021-03-14 07:31+00}'::timestamptz[])"],
    ),
    "saturated": (
        "numeric",
        "CASE WHEN g = 5000 THEN 17014118346046923173168730371588410.5727"
        " WHEN g = 5001 THEN -17014118346046923173168730371588410.5727 ELSE 1.0000 END",
        [
            f"x {op} {sign}30000000000000000000000000000000000"
            for op in ("=", "<", "<=", ">", ">=", "<>")
            for sign in ("", "-")
        ],
    ),
}


@pytest.mark.parametrize("kind", HARD)
def test_zones_of_hard_values(conn, am, kind):
    type_, value, conditions = HARD[kind]
    for name, own in (("ours", am), ("heap", "heap")):
        conn.execute(f"CREATE TABLE {name} (x {type_}) USING {own}")
        conn.execute(
            f"INSERT INTO {name} SELECT {value} FROM generate_series(1, 20000) g"
        )
    conn.execute("SET timezone = 'America/New_York'")
    for switch in ("on", "off"):
        conn.execute(f"SET {am}.enable_pruning = {switch}")
        for condition in conditions:
            heap, ours = (
                conn.execute(f"SELECT count(*) FROM {n} WHERE {condition}").fetchone()
                for n in ("heap", "ours")
            )
            assert ours == heap, f"{condition}, pruning {switch}"
    assert conn.execute(f"SELECT * FROM {am}.verify('ours')").fetchall() == []


def test_sums_of_a_column_that_was_oid(conn, am):
    """Its values are negative now, and no row was written."""
    conn.execute(f"CREATE TABLE t (o oid) USING {am}")
    conn.execute(
        "INSERT INTO t SELECT (4294967295 - g)::oid FROM generate_series(0, 19999) g"
    )
    conn.execute("ALTER TABLE t ALTER o TYPE int4")
    sums = conn.execute("SELECT sum(o), avg(o), sum(o + 0) FROM t").fetchone()
    assert sums == (-200010000, Decimal("-10000.5"), -200010000)
