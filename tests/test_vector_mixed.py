"""Queries of several nodes of vectors, one above or inside another, give heap's rows.

Correlated aggregates, semi and anti joins, windows over aggregates, grouping sets
over joins, set operations, DISTINCT ON, and all of these below a nested loop, which
rescans them with other parameters; by statement, by generic plan, and by a cursor
that turns round.

SECONDS=n runs the generator that long instead of a fixed number of queries;
SEED repeats a run.
"""

from __future__ import annotations

import os
import re
import time

import psycopg
import pytest
from strata.queries import share
from strata.timing import ends_soon
from test_vector_queries import same_rows, set_joins, show_text, switches, without_scale
from test_vector_windows import load_windows

QUERIES = share(80)
FULL = bool(share(1))

# Columns that b has too, and those that only tables of ours have.
SHARED = ("k8", "k4", "n", "f", "t", "d")
OWN = ("c", "bp", "k2", "m")
NUMBERS = ("k8", "k4", "n", "f")
# Their groups have one spelling each, whichever row stands for them.
OUT = {"c": "lower(x.c)"}


class Mixed:
    """Makes up queries of TBL, and of OTH, which may be b, its twin, or TBL."""

    def __init__(self, rng):
        self.rng = rng

    def pick(self, *choices):
        return self.rng.choice(choices)

    def equality(self, x: str, y: str, own: bool) -> str:
        column = self.rng.choice(SHARED + (OWN if own else ()))
        return self.pick(
            *[f"{x}.{column} = {y}.{column}"] * 5,
            f"{x}.k4 = {y}.k8",
            f"{x}.k4 + 1 = {y}.k8 - 1",
            f"{x}.n = {y}.k4",
            f"{x}.f = {y}.k4",
        )

    def equalities(self, x: str, y: str, own: bool) -> str:
        found = [self.equality(x, y, own)]
        while self.rng.random() < 0.3:
            found.append(self.equality(x, y, own))
        return " AND ".join(found)

    def filter(self, x: str) -> str:
        return self.pick(
            "true", f"{x}.k4 < 60", f"{x}.n > 3", f"{x}.t LIKE 'x1%'", f"{x}.f IS NULL",
            f"{x}.d BETWEEN '2020-01-05' AND '2020-01-20'", f"{x}.k8 % 3 = 1", f"{x}.k8 = -1",
            f"{x}.k4 IN (5, 7, 9, 30) OR {x}.t IS NULL",
        )  # fmt: skip

    def aggregate(self, x: str) -> str:
        number = f"{x}.{self.rng.choice(NUMBERS)}"
        call = self.pick(
            "count(*)", f"count({number})", f"sum({number})", f"avg({number})",
            f"min({number})", f"max({number})", f"max({x}.t)", f"min({x}.d)",
            f"sum({number} * 2)", f"count(DISTINCT {x}.t)", f"max({x}.t COLLATE \"C\")",
            f"sum({x}.k4 + {x}.n)", f"bool_or({x}.k4 > 50)", f"count(DISTINCT {number})",
        )  # fmt: skip
        if self.rng.random() < 0.15:
            call += f" FILTER (WHERE {self.filter(x)})"
        return call

    def correlated(self, x: str) -> str:
        """A subquery of one value for a row of x."""
        other, own = self.pick(("TBL", True), ("OTH", False))
        call = self.aggregate("y")
        numeric = call.startswith(("count", "sum", "avg"))
        value = self.pick(call, call, f"coalesce({call}, 0) * 2" if numeric else call)
        more = self.pick("", "", f" AND {self.filter('y')}")
        return f"(SELECT {value} FROM {other} y WHERE {self.equalities(x, 'y', own)}{more})"

    def condition(self) -> str:
        """Of x, with a subquery in it."""
        other, own = self.pick(("TBL", True), ("OTH", False))
        on = self.equalities("x", "y", own)
        column = self.rng.choice(SHARED)
        return self.pick(
            f"x.k4 > (SELECT {self.pick('avg', 'min', 'max', 'sum')}(y.k8) FROM {other} y"
            f" WHERE {on})",
            f"EXISTS (SELECT FROM {other} y WHERE {on} AND {self.filter('y')})",
            f"NOT EXISTS (SELECT FROM {other} y WHERE {on} AND {self.filter('y')})",
            f"EXISTS (SELECT FROM {other} y WHERE {on} AND y.d < x.d)",
            f"x.{column} IN (SELECT y.{column} FROM {other} y WHERE {self.filter('y')})",
            f"x.{column} NOT IN (SELECT y.{column} FROM {other} y WHERE {self.filter('y')}"
            f" AND y.{column} IS NOT NULL)",
            f"x.{column} NOT IN (SELECT y.{column} FROM {other} y WHERE y.k8 > 1400)",
            f"x.{column} NOT IN (SELECT y.{column} FROM {other} y WHERE {self.filter('y')})",
            f"x.k4 NOT IN (SELECT y.k8 + 70 FROM {other} y WHERE y.k8 IS NOT NULL)",
            f"(x.k8, x.t) IN (SELECT y.k8, y.t FROM {other} y WHERE {self.filter('y')})",
        )

    def source(self) -> str:
        """A join in which x is a table of ours."""
        other, own = self.pick(("TBL", True), ("OTH", False))
        kind = self.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
        on = f"x.k8 = y.k8 AND {self.equality('x', 'y', own)}"
        some = f"(SELECT * FROM TBL x WHERE {self.filter('x')}) x"
        return self.pick(
            "TBL x",
            f"TBL x {kind} {other} y ON {on}",
            f"{some} {kind} {other} y ON {on}",
        )

    def keys(self, most: int) -> list[str]:
        columns = self.rng.sample(SHARED + OWN, self.rng.randint(1, most))
        return [f"x.{c}" for c in columns]

    @staticmethod
    def shown(keys: list[str]) -> str:
        return ", ".join(OUT.get(key[2:], key) for key in keys)

    def of_rows(self) -> str:
        return (
            f"SELECT x.id, x.t, {self.correlated('x')} AS v, {self.correlated('x')} AS w"
            f" FROM TBL x WHERE {self.filter('x')}"
        )

    def of_condition(self) -> str:
        out = self.pick("x.id, x.k2, x.t", "count(*), sum(x.k4), max(x.t), sum(x.n)")
        return (
            f"SELECT {out} FROM TBL x WHERE {self.condition()} AND {self.filter('x')}"
        )

    def window_of_groups(self) -> str:
        keys = self.keys(3)
        over = self.pick("", f"PARTITION BY {keys[0]}")
        order = self.pick(
            "", f"ORDER BY count(*), {keys[-1]}", f"ORDER BY {keys[-1]} DESC"
        )
        call = self.pick("rank()", "dense_rank()", "sum(count(*))", "max(sum(x.k4))",
                         "count(*)", "avg(sum(x.k8))", "cume_dist()")  # fmt: skip
        return (
            f"SELECT {self.shown(keys)}, {self.aggregate('x')}, {call} OVER ({over} {order})"
            f" FROM {self.source()} WHERE {self.filter('x')} GROUP BY {', '.join(keys)}"
        )

    def sets(self) -> str:
        keys = self.keys(3)
        joined = ", ".join(keys)
        group = self.pick(
            f"ROLLUP ({joined})", f"CUBE ({joined})", f"GROUPING SETS (({joined}), ())",
            f"GROUPING SETS (({keys[0]}), ({keys[-1]}), ({joined}))", joined,
        )  # fmt: skip
        having = self.pick("", "", " HAVING count(*) > 3")
        return (
            f"SELECT {self.shown(keys)}, {self.aggregate('x')}, {self.aggregate('x')},"
            f" count(*) FROM {self.source()} WHERE {self.filter('x')} GROUP BY"
            f" {group}{having}"
        )

    def set_operation(self) -> str:
        columns = ", ".join(self.rng.sample(SHARED, self.rng.randint(1, 3)))
        operation = self.pick("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT",
                              "EXCEPT ALL")  # fmt: skip
        return (
            f"SELECT {columns} FROM TBL x WHERE {self.filter('x')} {operation}"
            f" SELECT {columns} FROM {self.pick('TBL', 'OTH')} x WHERE {self.filter('x')}"
        )

    def distinct_on(self) -> str:
        keys = self.keys(2)
        order = [key + self.pick("", " DESC", " NULLS FIRST") for key in keys]
        return (
            f"SELECT DISTINCT ON ({', '.join(keys)}) {self.shown(keys)}, x.id, x.f, x.t"
            f" FROM TBL x WHERE {self.filter('x')} AND {self.condition()}"
            f" ORDER BY {', '.join(order)}, {self.pick('x.id', 'x.m DESC, x.id')}"
        )

    def lateral(self) -> str:
        """A subquery that is rescanned for each row of o."""
        on = self.equality("x", "o", False)
        kind = self.pick("JOIN", "LEFT JOIN")
        inner = self.pick(
            f"SELECT {self.aggregate('x')} AS v, count(*) AS w FROM {self.source()}"
            f" WHERE {on} AND {self.filter('x')}",
            f"SELECT x.k2 AS v, {self.aggregate('x')} AS w FROM {self.source()}"
            f" WHERE {on} AND x.k4 > o.k4 - 40 GROUP BY 1",
            f"SELECT x.id AS v, rank() OVER (PARTITION BY x.k2 ORDER BY x.id) AS w"
            f" FROM TBL x WHERE {on}",
            f"SELECT x.id AS v, x.t AS w FROM TBL x WHERE {on} AND {self.condition()}"
            " ORDER BY x.k8, x.id LIMIT 3",
            "SELECT * FROM (SELECT x.id AS v, row_number() OVER (PARTITION BY x.t ORDER BY"
            f" x.m, x.id) AS w FROM TBL x WHERE {on}) q WHERE w <= 2",
            f"SELECT x.id AS v, {self.correlated('x')} AS w FROM TBL x WHERE {on}",
            "SELECT x.k2 AS v, (SELECT count(*) FROM TBL y WHERE y.k8 = x.k8 AND"
            f" y.k4 > o.k4) AS w FROM TBL x WHERE {on}",
            "SELECT x.k8 AS v, (SELECT sum(y.k4) FROM TBL y WHERE y.k8 = x.k8 AND"
            f" y.k2 = o.k4 % 7) AS w FROM TBL x WHERE {on}",
        )
        below = self.pick(12, 40)
        return (
            f"SELECT o.id, q.v, q.w FROM b o {kind} LATERAL ({inner}) q ON true"
            f" WHERE o.id < {below}"
        )

    def query(self) -> str:
        return self.rng.choice((
            self.of_rows, self.of_condition, self.window_of_groups, self.sets,
            self.set_operation, self.distinct_on, self.lateral, self.lateral,
        ))()  # fmt: skip


def load(conn, am: str) -> None:
    load_windows(conn, am)
    conn.execute(f"CREATE TABLE b_ours (LIKE b) USING {am}")
    conn.execute("INSERT INTO b_ours TABLE b")
    conn.execute("ANALYZE")


def set_mixed(conn, rng, am: str, names: list[str]) -> list[str]:
    settings = set_joins(conn, rng, am, names)
    more = []
    if rng.random() < 0.25:
        # the rescans of a nested loop
        more += ["SET enable_nestloop = on", "SET enable_hashjoin = off",
                 "SET enable_mergejoin = off", "SET enable_memoize = off"]  # fmt: skip
    if rng.random() < 0.2:
        more += ["SET enable_sort = off"]
    for setting in more:
        conn.execute(setting)
    return settings + more


def by_statement(conn, query: str) -> list:
    return conn.execute(query).fetchall()


def by_generic_plan(conn, query: str) -> list:
    """Twice, with constants of conditions as parameters."""
    numbers = list(dict.fromkeys(re.findall(r"(?<=[<>] )\d+\b(?!'| FROM)", query)))
    for i, number in enumerate(numbers, 1):
        query = re.sub(rf"(?<=[<>] ){number}\b", f"${i}", query)
    types = f"({', '.join(['int'] * len(numbers))})" if numbers else ""
    values = f"({', '.join(numbers)})" if numbers else ""
    conn.execute("SET plan_cache_mode = force_generic_plan")
    conn.execute(f"PREPARE mixed{types} AS {query}")
    try:
        first = conn.execute(f"EXECUTE mixed{values}").fetchall()
        again = conn.execute(f"EXECUTE mixed{values}").fetchall()
    finally:
        conn.execute("DEALLOCATE mixed")
    assert same_rows(without_scale(first), without_scale(again)), query
    return first


def by_cursor(conn, query: str) -> list:
    """Some rows forward and back again, then all; half of them after a commit."""
    with conn.transaction():
        conn.execute(f"DECLARE mixed SCROLL CURSOR WITH HOLD FOR {query}")
        some = conn.execute("FETCH 30 FROM mixed").fetchall()
        conn.execute("FETCH BACKWARD ALL FROM mixed")
        half = conn.execute("FETCH 20 FROM mixed").fetchall()
        assert repr(half) == repr(some[:20]), query
    rows = half + conn.execute("FETCH ALL FROM mixed").fetchall()
    back = conn.execute("FETCH BACKWARD ALL FROM mixed").fetchall()
    conn.execute("CLOSE mixed")
    assert repr(back[::-1]) == repr(rows), query
    return rows


def test_mixed(conn, am, rng):
    """Nodes of vectors above and inside each other give heap's rows."""
    load(conn, am)
    show_text(conn)
    names = switches(conn, am)
    mixed = Mixed(rng)
    seen = dict.fromkeys(("Scan", "Aggregate", "Join", "Sort", "Lookup", "SetOp"), 0)
    done = 0
    end = time.monotonic() + float(os.environ.get("SECONDS", 0))
    while (
        done < QUERIES
        or time.monotonic() < end
        # A few queries may leave out one node: a short run does not ask for more.
        or (FULL and not all(seen.values()) and done < 10 * QUERIES)
    ):
        settings = set_mixed(conn, rng, am, names)
        query = mixed.query()
        done += 1
        ours = query.replace("TBL", "ours").replace("OTH", rng.choice(("b", "b_ours")))
        heap = query.replace("TBL", "heap").replace("OTH", "b")
        plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {ours}"))
        for node in seen:
            seen[node] += f"({am.capitalize()}{node})" in plan
        way = rng.choice((by_statement, by_statement, by_generic_plan, by_cursor))
        fault = [*settings, f"-- {way.__name__}", ours, plan]
        conn.execute("SET statement_timeout = '60s'")
        try:
            rows = without_scale(way(conn, ours))
        except Exception as error:
            raise AssertionError("\n".join(fault)) from error
        expected = without_scale(conn.execute(heap).fetchall())
        assert same_rows(rows, expected), "\n".join(fault)
    assert all(seen.values()) or not FULL, seen


ENDLESS = """CREATE TABLE many (id int, t text) USING {am};
 INSERT INTO many SELECT i, 't' || i FROM generate_series(1, 30000) i;
 CREATE FUNCTION endless() RETURNS SETOF int ROWS 10 LANGUAGE sql VOLATILE AS
 'SELECT generate_series(1, 1000000000)';
 ANALYZE many"""
LONG = {
    "first arm": "SELECT id FROM many INTERSECT SELECT endless()",
    "second arm": "SELECT id FROM many EXCEPT ALL SELECT endless()",
    "union": "SELECT id FROM many UNION SELECT endless()",
    "elements": "SELECT max(x), count(*) FROM many, unnest(array_fill(id, ARRAY[99999])) x",
    "no elements": "SELECT max(x) FROM many, unnest(array_fill(id, ARRAY[99999])) x"
    " WHERE x < 0",
}


@pytest.mark.parametrize("what", LONG)
def test_set_operation_cancelled(conn, am, what):
    """Set operations and unnest() end soon after they were cancelled, also on disk."""
    conn.execute(ENDLESS.format(am=am))
    conn.execute("SET work_mem = '1MB'")
    conn.execute("SET max_parallel_workers_per_gather = 0")
    plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {LONG[what]}"))
    shown = "Unnest: on vectors" if "unnest" in LONG[what] else am.capitalize()
    assert shown in plan.split("->")[0], plan
    conn.execute("SET statement_timeout = '300ms'")
    with ends_soon(conn, 1.3), pytest.raises(psycopg.errors.QueryCanceled):
        conn.execute(LONG[what])
