"""Heap twins: the same statements on a table of ours and on a heap table.

A Twin has two schemas in one database, `ours` and `heap`.  Every session of
it has two connections, whose search_path and default_table_access_method
name one schema each.  run() executes a statement on both and compares what
came of it: rows as multisets (or in order), row counts, errors by SQLSTATE.
check() compares whole tables, by a sequential scan and through every index.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import psycopg

OURS, HEAP = "ours", "heap"

# Each makes the planner use one way to the rows where it can.
PLANS = {
    "any plan": {},
    "index scans": {"enable_seqscan": "off", "enable_bitmapscan": "off"},
    "bitmap scans": {
        "enable_seqscan": "off",
        "enable_indexscan": "off",
        "enable_indexonlyscan": "off",
    },
    "no index": {
        "enable_bitmapscan": "off",
        "enable_indexscan": "off",
        "enable_indexonlyscan": "off",
    },
    "parallel": {
        "enable_bitmapscan": "off",
        "enable_indexscan": "off",
        "enable_indexonlyscan": "off",
        "parallel_setup_cost": "0",
        "parallel_tuple_cost": "0",
        "min_parallel_table_scan_size": "0",
        "max_parallel_workers_per_gather": "2",
    },
}


@dataclass
class Outcome:
    """What a statement gave: rows or None, row count, SQLSTATE or None."""

    rows: list[tuple] | None
    count: int
    sqlstate: str | None
    message: str = ""

    def __str__(self) -> str:
        if self.sqlstate:
            return f"error {self.sqlstate}: {self.message}"
        return f"{self.count} rows"


def execute(conn: psycopg.Connection, sql: str, params=None) -> Outcome:
    """Run a statement; errors become part of the outcome.

    A lost connection is no outcome: it is raised.
    """
    try:
        cursor = conn.execute(sql, params, prepare=False)
    except psycopg.Error as error:
        if conn.closed or error.sqlstate is None:
            raise
        return Outcome(None, 0, error.sqlstate, str(error).splitlines()[0])
    rows = cursor.fetchall() if cursor.description else None
    return Outcome(rows, cursor.rowcount, None)


def _differences(ours: Counter, heap: Counter, limit: int = 5) -> str:
    lines = []
    for label, rows in (("only in ours", ours - heap), ("only in heap", heap - ours)):
        if rows:
            shown = [
                f"    {count} x {str(row)[:300]}"
                for row, count in rows.most_common(limit)
            ]
            lines += [f"  {label}: {rows.total()} rows", *shown]
    return "\n".join(lines)


def same_rows(ours: list[tuple], heap: list[tuple], what: str) -> None:
    """Assert that two results are equal as multisets."""
    left, right = Counter(_keys(ours)), Counter(_keys(heap))
    # Not Counter's own ==, which asks for every element in turn.
    same = dict.__eq__(left, right)
    assert same, f"{what}: rows differ\n{_differences(left, right)}"


# Types whose values are equal only if they are the same.
PLAIN = {str, bytes, int, type(None)}


def _keys(rows: list[tuple]) -> Iterable[tuple]:
    """The rows as something hashable that tells -0 from 0 and equals NaN."""
    if PLAIN.issuperset(map(type, chain.from_iterable(rows))):
        return rows
    return map(_key, rows)


def _key(row: tuple) -> tuple:
    return tuple(v if type(v) in PLAIN else repr(v) for v in row)


class Session:
    """One session of each twin, doing the same things."""

    def __init__(self, database, am: str) -> None:
        self.conns = {}
        for schema, default_am in ((OURS, am), (HEAP, "heap")):
            conn = database.connect()
            conn.execute(f"SET search_path = {schema}, public")
            conn.execute(f"SET default_table_access_method = {default_am}")
            self.conns[schema] = conn

    @property
    def ours(self) -> psycopg.Connection:
        return self.conns[OURS]

    @property
    def heap(self) -> psycopg.Connection:
        return self.conns[HEAP]

    def run(self, sql: str, params=None, *, ordered: bool = False) -> Outcome:
        """Run a statement on both and compare; returns our outcome."""
        ours, heap = (execute(self.conns[s], sql, params) for s in (OURS, HEAP))
        assert ours.sqlstate == heap.sqlstate, f"{sql}\n  ours: {ours}\n  heap: {heap}"
        assert ours.count == heap.count, f"{sql}\n  ours: {ours}\n  heap: {heap}"
        if ours.rows is not None:
            if ordered:
                assert list(map(_key, ours.rows)) == list(map(_key, heap.rows)), sql
            else:
                same_rows(ours.rows, heap.rows, sql)
        return ours

    def ok(self, sql: str, params=None, **kwargs) -> Outcome:
        """run() of a statement that must succeed."""
        outcome = self.run(sql, params, **kwargs)
        assert outcome.sqlstate is None, f"{sql}\n  {outcome}"
        return outcome

    def fails(self, sqlstate: str, sql: str, params=None) -> Outcome:
        """run() of a statement that must fail with this SQLSTATE."""
        outcome = self.run(sql, params)
        assert outcome.sqlstate == sqlstate, f"{sql}\n  {outcome}, not {sqlstate}"
        return outcome

    def same(self, query: str, params=None, plans=tuple(PLANS)) -> None:
        """Run a query under each of the plans; all results must be heap's."""
        expected = execute(self.heap, query, params)
        assert expected.sqlstate is None, f"{query}\n  heap: {expected}"
        for plan in plans:
            with settings(self.ours, PLANS[plan]):
                got = execute(self.ours, query, params)
            assert got.sqlstate is None, f"{query} ({plan})\n  ours: {got}"
            same_rows(got.rows, expected.rows, f"{query} ({plan})")

    def check(self, table: str = "t") -> None:
        """Compare the whole table: every plan, and through every index."""
        columns = _columns(self.heap, table)
        assert columns == _columns(self.ours, table), f"{table}: columns differ"
        row = f"ROW({', '.join(columns)})::text AS r"
        self._same_texts(f"SELECT {row} FROM {table}", ("any plan", "parallel"))
        self.same(f"SELECT count(*) FROM {table}", plans=("any plan", "parallel"))
        for query, plans in _index_queries(self.heap, table, row):
            self._same_texts(query, plans)

    def _same_texts(self, query: str, plans: Iterable[str]) -> None:
        """same() of a query of one text, r, that the server sums up: rows come
        here only where the sums of their hashes differ.  OFFSET keeps the query's
        plan what it is alone."""
        digest = (
            "SELECT count(*), sum(hashtextextended(r, 0)), sum(length(r))"
            f" FROM ({query} OFFSET 0) q"
        )
        expected = execute(self.heap, digest)
        assert expected.sqlstate is None, f"{query}\n  heap: {expected}"
        for plan in plans:
            with settings(self.ours, PLANS[plan]):
                got = execute(self.ours, digest)
            if got.rows != expected.rows:
                self.same(query, plans=(plan,))
                raise AssertionError(f"{query} ({plan}): {got}, {got.rows}")


@contextlib.contextmanager
def settings(conn: psycopg.Connection, values: dict[str, str]):
    """Run with these settings; then back to the session's defaults."""
    for name, value in values.items():
        conn.execute(f"SET {name} = {value}")
    try:
        yield
    finally:
        if conn.info.transaction_status != psycopg.pq.TransactionStatus.INERROR:
            for name in values:
                conn.execute(f"RESET {name}")


def _columns(conn: psycopg.Connection, table: str) -> list[str]:
    return [
        name
        for (name,) in conn.execute(
            "SELECT quote_ident(attname) FROM pg_attribute WHERE attrelid = %s::regclass"
            " AND attnum > 0 AND NOT attisdropped ORDER BY attname",
            [table],
        )
    ]


def _index_queries(
    conn: psycopg.Connection, table: str, row: str
) -> list[tuple[str, tuple[str, ...]]]:
    """Queries that read the table through each of its indexes, and the plans that
    can: a bitmap of an index needs a condition.

    btree: all of it, in order (an index that cannot order would need a sort,
    which a multiset does not see).  Others: equality with up to twenty values
    of the first key, where the type has equality.
    """
    both = ("index scans", "bitmap scans")
    queries = []
    indexes = conn.execute(
        "SELECT am.amname, pg_get_indexdef(indexrelid, 1, true),"
        " pg_get_expr(indpred, indrelid)"
        " FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am am ON am.oid = c.relam"
        " WHERE indrelid = %s::regclass AND indisvalid ORDER BY c.relname",
        [table],
    ).fetchall()
    for am, key, predicate in indexes:
        where = f" WHERE {predicate}" if predicate else ""
        if am == "btree":
            query = f"SELECT {row} FROM {table}{where} ORDER BY {key}"
            queries.append((query, both if predicate else both[:1]))
        elif am == "hash":
            values = conn.execute(
                f"SELECT DISTINCT quote_literal(({key})::text) FROM {table}{where}"
                " ORDER BY 1 LIMIT 20"
            ).fetchall()
            link = " AND " if predicate else " WHERE "
            queries += [
                (f"SELECT {row} FROM {table}{where}{link}{key} = {value}", both)
                for (value,) in values
                if value is not None
            ]
    return queries


class Twin(Session):
    """The first session of a pair of schemas, and the maker of others."""

    def __init__(self, database, am: str) -> None:
        self.database = database
        self.am = am
        with contextlib.closing(database.cluster.connect(database.name)) as conn:
            for schema in (OURS, HEAP):
                conn.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        super().__init__(database, am)

    def session(self) -> Session:
        """Another session of both."""
        return Session(self.database, self.am)

    def row_groups(self, table: str = "t") -> int:
        """Row groups of our table that this session sees."""
        (count,) = self.ours.execute(
            f"SELECT count(*) FROM {self.am}.row_groups(%s::regclass)", [table]
        ).fetchone()
        return count
