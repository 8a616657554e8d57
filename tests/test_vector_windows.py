"""Windows and sorts over vectors give heap's rows, whatever is on and off.

SECONDS=n runs the generator that long instead of a fixed number of queries;
SEED repeats a run.
"""

from __future__ import annotations

import os
import time

import psycopg
import pytest
from strata.queries import share
from strata.timing import ends_soon
from test_keyed import plan_of
from test_vector_queries import (
    JOIN_ROWS,
    JOIN_TABLE,
    OTHERS,
    same_rows,
    set_plan,
    show_text,
    switches,
    without_scale,
)

WINDOWS = share(120)

# Columns of JOIN_TABLE, and "id", which is unique.
KEYS = ("k8", "k4", "k2", "n", "f", "t", "c", "bp", "d", "k8 % 7", "lower(t)")
NUMBERS = ("k8", "k4", "k2", "m", "mixed", "f")
OFFSETS = ("UNBOUNDED PRECEDING", "3 PRECEDING", "CURRENT ROW", "2 FOLLOWING", "0 PRECEDING",
           "1 PRECEDING", "0 FOLLOWING", "5 FOLLOWING", "UNBOUNDED FOLLOWING")  # fmt: skip
# Where one bound may stand beside another.
RANK = {"UNBOUNDED PRECEDING": 0, "UNBOUNDED FOLLOWING": 4, "CURRENT ROW": 2}
# Of peers alone: their order among themselves does not matter.
OF_PEERS = ("rank()", "dense_rank()", "percent_rank()", "cume_dist()")
OF_ROWS = ("row_number()", "ntile(3)", "lag({x})", "lag({x}, 2)", "lead({x}, 1, {y})",
           "lead({x}, -1)", "lag({x}, 0)", "lag({x}, 3, NULL)")  # fmt: skip
OF_FRAMES = ("first_value({x})", "last_value({x})", "nth_value({x}, 2)")
AGGREGATES = ("count(*)", "count({x})", "sum({x})", "avg({x})", "min({x})", "max({x})")


def bound_rank(bound: str) -> int:
    return RANK.get(bound, 1 if bound.endswith("PRECEDING") else 3)


class Windows:
    """Makes up queries of table TBL with windows, whose result no tie changes."""

    def __init__(self, rng):
        self.rng = rng

    def order(self, unique: bool) -> str:
        keys = [self.rng.choice(KEYS) for _ in range(self.rng.choice((0, 1, 1, 2, 3)))]
        if unique:
            keys.append("id")
        keys = [
            key + self.rng.choice(("", "", " DESC")) + self.rng.choice(
                ("", "", " NULLS FIRST", " NULLS LAST"))
            for key in keys
        ]  # fmt: skip
        return f"ORDER BY {', '.join(keys)}" if keys else ""

    def frame(self, mode: str) -> str:
        rng = self.rng
        if mode == "RANGE":
            bounds = [b for b in OFFSETS if b[0] in "UC"]
        else:
            bounds = list(OFFSETS)
        start = rng.choice([b for b in bounds if b != "UNBOUNDED FOLLOWING"])
        end = rng.choice([
            b for b in bounds
            if b != "UNBOUNDED PRECEDING" and bound_rank(b) >= bound_rank(start)
        ])  # fmt: skip
        excluded = rng.choice(("", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP",
                               " EXCLUDE TIES", " EXCLUDE NO OTHERS"))  # fmt: skip
        return f"{mode} BETWEEN {start} AND {end}{excluded}"

    def window(self) -> tuple[str, str]:
        """A function and what stands behind OVER."""
        rng = self.rng
        mode = rng.choice(("", "", "RANGE", "GROUPS", "ROWS"))
        of = rng.choice((OF_PEERS, OF_ROWS, OF_FRAMES, AGGREGATES, AGGREGATES))
        unique = of in (OF_ROWS, OF_FRAMES) or mode == "ROWS"
        partition = ", ".join(
            rng.choice(KEYS) for _ in range(rng.choice((0, 1, 1, 1, 2)))
        )
        order = self.order(unique)
        if mode == "GROUPS" and not order:
            order = "ORDER BY k8"
        frame = self.frame(mode) if mode else ""
        x = rng.choice(NUMBERS)
        y = {"k8": "7::bigint", "k4": "k4 + 1", "k2": "k2", "m": "0.00", "f": "-1"}
        name = rng.choice(of).format(x=x, y=y.get(x, x))
        if of is AGGREGATES and rng.random() < 0.2:
            name += (
                f" FILTER (WHERE {rng.choice(('k2 > 3', 't IS NOT NULL', 'k4 > 50'))})"
            )
        over = f"{'PARTITION BY ' + partition if partition else ''} {order} {frame}"
        return name, over

    def query(self) -> str:
        rng = self.rng
        names = []
        for i in range(rng.choice((1, 1, 2, 3))):
            name, over = self.window()
            names.append(f"{name} OVER ({over}) AS w{i}")
        source = rng.choice(("TBL", "TBL", "TBL", "(SELECT x.*, b.amount FROM TBL x"
                             " JOIN b ON x.k8 = b.k8 AND b.id < 200) j"))  # fmt: skip
        where = rng.choice(("", "", " WHERE k4 < 60", " WHERE k2 = 3 OR t IS NULL"))
        if "JOIN" in source:
            # rows of a join are unique by both sides' keys
            names = [n.replace("id", "id, amount") for n in names]
        out = f"SELECT id, k2, t, {', '.join(names)} FROM {source}{where}"
        what = rng.random()
        if what < 0.2:
            return f"SELECT count(*), sum(k2), max(w0), min(w0) FROM ({out}) x"
        if what < 0.5:
            return self.first_rows(source, where)
        return out

    def first_rows(self, source: str, where: str) -> str:
        rng = self.rng
        partition = ", ".join(rng.sample(KEYS[:9], rng.choice((0, 1, 1, 2))))
        over = f"{'PARTITION BY ' + partition if partition else ''}"
        tie = "id, amount" if "JOIN" in source else "id"
        order = rng.choice(("k8", "k4 DESC", "m", "f NULLS FIRST", "d DESC NULLS LAST", "t",
                            "n DESC", "mixed"))  # fmt: skip
        function = rng.choice(("row_number()", "rank()", "dense_rank()"))
        if function == "row_number()":
            order += f", {tie}"
        limit = rng.choice(("= 1", "<= 1", "< 4", "<= 5", "= 2", "<= 0", "< 100"))
        return (
            f"SELECT {tie}, k2, t, n, w FROM (SELECT *, {function} OVER ({over} ORDER BY"
            f" {order}) AS w FROM {source}{where}) x WHERE w {limit}"
        )


def load_windows(conn, am: str) -> None:
    conn.execute(
        "CREATE COLLATION IF NOT EXISTS nocase (provider = icu,"
        " locale = 'und-u-ks-level2', deterministic = false)"
    )
    more = ", id int, m numeric(12,2), mixed numeric) USING"
    for name, own in (("ours", am), ("heap", "heap")):
        table = JOIN_TABLE.replace(") USING", more).format(name=name, am=own)
        conn.execute(table)
        for first, last in ((1, 3000), (3001, 3200)):
            rows = JOIN_ROWS.format(name=name, first=first, last=last)
            conn.execute(rows.replace(" FROM generate", ", i, i % 97 * 1.25,"
                                      " CASE i % 31 WHEN 3 THEN 'NaN' WHEN 5 THEN NULL ELSE"
                                      " (i % 20)::numeric END FROM generate"))  # fmt: skip
        conn.execute(f"DELETE FROM {name} WHERE k8 % 37 = 5")
    conn.execute(OTHERS)
    conn.execute("ANALYZE")


def set_windows(conn, rng, am: str, names: list[str]) -> list[str]:
    settings = set_plan(conn, rng, names)
    more = [f"SET {am}.enable_vector_sort = on"] if rng.random() < 0.9 else []
    if rng.random() < 0.15:
        # rows fit at the time of planning, and no longer when they come
        more += ["SET cpu_operator_cost = 0.0025"]
    for setting in more:
        conn.execute(setting)
    return settings + more


def test_windows(conn, am, rng):
    """Windows in memory and the server's own give heap's rows."""
    load_windows(conn, am)
    show_text(conn)
    names = switches(conn, am)
    windows = Windows(rng)
    vectors = 0
    done = 0
    end = time.monotonic() + float(os.environ.get("SECONDS", 0))
    while (
        done < WINDOWS
        or time.monotonic() < end
        # A few windows may all be the server's.
        or (vectors <= done / 3 and done < 5 * WINDOWS)
    ):
        settings = set_windows(conn, rng, am, names)
        query = windows.query()
        done += 1
        ours = query.replace("TBL", "ours")
        heap = query.replace("TBL", "heap")
        conn.execute(f"EXPLAIN VERBOSE {ours}")
        plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {ours}"))
        vectors += f"({am.capitalize()}Sort)" in plan
        rows = without_scale(conn.execute(ours).fetchall())
        expected = without_scale(conn.execute(heap).fetchall())
        assert same_rows(rows, expected), "\n".join([*settings, ours, plan])
    assert vectors > done / 3


@pytest.mark.parametrize("what", ["read", "compare", "compute"])
def test_window_cancelled(conn, am, what):
    """A sort of vectors ends soon after it was cancelled, in each of its phases."""
    # strings that begin alike, and whose order is far from that of their bytes
    conn.execute(
        f"CREATE TABLE many (id int, t text) USING {am};"
        " INSERT INTO many SELECT i, repeat('x', 40)"
        " || translate(md5(i::text), '0123456789abcdef', 'aBcDeFgHiJkLmNoP')"
        " FROM generate_series(1, 30000) i;"
        "CREATE FUNCTION slow(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS"
        " 'BEGIN PERFORM pg_sleep(0.01); RETURN $1; END';"
    )
    conn.execute("ANALYZE")
    for setting in ("max_parallel_workers_per_gather = 0", "work_mem = '64MB'"):
        conn.execute(f"SET {setting}")
    query = {
        "read": "SELECT max(r) FROM (SELECT rank() OVER (ORDER BY slow(id)) r FROM many) x",
        "compare": "SELECT max(r) FROM (SELECT rank() OVER (ORDER BY t COLLATE \"und-x-icu\") r"
        " FROM (SELECT x.t || y.id AS t FROM many x JOIN many y ON x.id % 300 = y.id % 300) z)"
        " q",
        "compute": "SELECT max(r) FROM (SELECT avg(id) OVER (ORDER BY id) r FROM"
        " (SELECT x.id FROM many x JOIN many y ON x.id % 100 = y.id % 100) z) x",
    }[what]  # fmt: skip
    if what != "read":
        conn.execute("SET work_mem = '1GB'")
    plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {query}"))
    assert f"({am.capitalize()}Sort)" in plan, plan
    conn.execute("SET statement_timeout = '1s'")
    with ends_soon(conn, 2), pytest.raises(psycopg.errors.QueryCanceled):
        conn.execute(query)


EVENTS = """CREATE TABLE events (id int, late int, apart int, word text, large text) USING {am};
 INSERT INTO events SELECT i, CASE WHEN i % 10 = 0 THEN i * 7919 % 60000 ELSE i END,
   CASE WHEN i % 9000 = 500 THEN 1000000000 ELSE i END, md5(i::text),
   CASE WHEN i <= 300 THEN repeat(md5(i::text), 300) END
   FROM generate_series(1, 60000) i;
 ANALYZE events; SET max_parallel_workers_per_gather = 0; SET work_mem = '256kB'"""


def sorted_in(conn, am: str, sql: str, options: str = "ANALYZE, TIMING off") -> str:
    """Where a query's rows are sorted: by parts on disk, the server, or it was left to it."""
    (node, *_) = (n for n in plan_of(conn, sql, f", {options}") if "Sort Key" in n)
    if node.get("Custom Plan Provider") != f"{am.capitalize()}Sort":
        return "server"
    if node.get("Left To Server"):
        return "left"
    return "parts" if node.get("Parts On Disk", 0) > 3 else "memory"


@pytest.mark.parametrize("key", ["id", "id DESC", "late", "apart", "apart DESC"])
def test_parts_of_rows_that_come_nearly_in_order(conn, am, key):
    """What the first rows say of the key is wrong of later ones: late rows, and a few
    far away.  Parts are cut again, and the rows are the server's."""
    conn.execute(EVENTS.format(am=am))
    sql = f"SELECT id, late, apart FROM events ORDER BY {key}, id"
    assert sorted_in(conn, am, sql) == "parts"
    rows = conn.execute(sql).fetchall()
    conn.execute(f"SET {am}.enable_vector_sort = off")
    assert rows == conn.execute(sql).fetchall()


def test_sorts_that_stay_the_servers(conn, am):
    """Few rows may be wanted, large values are pointers to it, rows by strings are wide;
    other sorts and windows by strings go to parts."""
    conn.execute(EVENTS.format(am=am))
    conn.execute(
        "SET plan_cache_mode = force_generic_plan;"
        "PREPARE few(bigint) AS SELECT id, late FROM events ORDER BY late, id LIMIT $1;"
        f"CREATE TABLE wide USING {am} AS SELECT id, repeat(word, 6) AS word FROM events;"
        "ANALYZE wide"
    )
    for sql in (
        "EXECUTE few(10)",
        "SELECT * FROM (SELECT id, late FROM events ORDER BY late, id OFFSET 0) s LIMIT 10",
        "SELECT id, word FROM wide ORDER BY word",
    ):
        assert sorted_in(conn, am, sql) == "server"
    sql = (
        "SELECT id, large FROM events WHERE id <= 300 AND id + 0 = id ORDER BY late, id"
    )
    assert sorted_in(conn, am, sql) in ("left", "server")
    for sql in (
        "SELECT id, count(*) OVER (PARTITION BY word ORDER BY id) FROM events",
        "SELECT id, word FROM events ORDER BY word",
    ):
        assert sorted_in(conn, am, sql) == "parts"
