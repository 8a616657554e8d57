"""The comparison of results must find a difference wherever there is one."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from bench.compare import Mismatch, Result, compare
from bench.dataset import Query

PLAIN = Query("q", "SELECT")
ORDERED = Query("q", "SELECT", order_by=(1,))
LIMITED = Query("q", "SELECT", order_by=(1,), limited=True)
REAL = Query("q", "SELECT", real=(0,))


def postgres(*rows: tuple) -> Result:
    """A result as PostgreSQL's engine makes it."""

    def text(value: object) -> bytes | None:
        return None if value is None else str(value).encode()

    width = len(rows[0]) if rows else 1
    return Result(
        names=tuple(f"c{i}" for i in range(width)),
        types=(0,) * width,
        rows=list(rows),
        texts=[tuple(map(text, row)) for row in rows],
    )


def duckdb(*rows: tuple) -> Result:
    """A result as DuckDB's engine makes it."""
    width = len(rows[0]) if rows else 1
    return Result(("x",) * width, ("T",) * width, list(rows))


@pytest.mark.parametrize("make", [postgres, duckdb])
@pytest.mark.parametrize(
    ("query", "left", "right"),
    [
        (PLAIN, [], []),
        (PLAIN, [(1, "a")], [(1, "a")]),
        (PLAIN, [(None,)], [(None,)]),
        (PLAIN, [(1, "a"), (2, "b")], [(2, "b"), (1, "a")]),
        (PLAIN, [(1.0,)], [(1.0 + 5e-10,)]),
        (PLAIN, [(math.nan,)], [(math.nan,)]),
        (PLAIN, [(math.inf,)], [(math.inf,)]),
        (REAL, [(1.0,)], [(1.000005,)]),
        (ORDERED, [("a", 2), ("b", 1)], [("a", 2), ("b", 1)]),
        (ORDERED, [("a", 1), ("b", 1)], [("b", 1), ("a", 1)]),
        (LIMITED, [("a", 2), ("b", 1)], [("a", 2), ("c", 1)]),
    ],
)
def test_equal(make, query, left, right):
    compare(query, postgres(*left), make(*right))


@pytest.mark.parametrize("make", [postgres, duckdb])
@pytest.mark.parametrize(
    ("query", "left", "right", "what"),
    [
        (PLAIN, [(1,)], [(2,)], "expected 1, got 2"),
        (PLAIN, [(1,)], [(1,), (1,)], "2 rows, expected 1"),
        (PLAIN, [(1,), (1,)], [(1,)], "1 rows, expected 2"),
        (PLAIN, [(1,)], [(1, 2)], "2 columns, expected 1"),
        (PLAIN, [(0,)], [(None,)], "expected 0, got None"),
        (PLAIN, [(None,)], [("",)], "expected None, got ''"),
        (PLAIN, [("a",), ("a",), ("b",)], [("a",), ("b",), ("b",)], "values"),
        (PLAIN, [("a",)], [("a ",)], "values"),
        (PLAIN, [(True,)], [(False,)], "values"),
        (PLAIN, [(1.0,)], [(1.0 + 5e-9,)], "values"),
        (PLAIN, [(1.0,)], [(math.nan,)], "values"),
        (PLAIN, [(math.inf,)], [(-math.inf,)], "values"),
        (PLAIN, [(0.0,)], [(1e-300,)], "values"),
        (REAL, [(1.0,)], [(1.00005,)], "values"),
        (ORDERED, [("a", 2), ("b", 1)], [("b", 1), ("a", 2)], "order at row 1"),
        (ORDERED, [("a", 1), ("b", 1)], [("a", 1), ("c", 1)], "values"),
        (LIMITED, [("a", 2), ("b", 1)], [("c", 2), ("b", 1)], "values"),
        (LIMITED, [("a", 2), ("b", 1)], [("a", 2), ("b", 2)], "order at row 2"),
    ],
)
def test_different(make, query, left, right, what):
    with pytest.raises(Mismatch, match=what):
        compare(query, postgres(*left), make(*right))


def test_numeric_scale_counts_between_postgresql_systems_only():
    expected = postgres((Decimal("1.5000"),))
    with pytest.raises(Mismatch, match="values"):
        compare(PLAIN, expected, postgres((Decimal("1.5"),)))
    compare(PLAIN, expected, duckdb((Decimal("1.5"),)))
    compare(PLAIN, expected, duckdb((1.5,)))
    with pytest.raises(Mismatch, match="values"):
        compare(PLAIN, expected, duckdb((Decimal("1.5001"),)))


def test_column_names_and_types_count_between_postgresql_systems():
    expected = postgres((1,))
    other_type = Result(("c0",), (20,), [(1,)], [(b"1",)])
    with pytest.raises(Mismatch, match="types"):
        compare(PLAIN, expected, other_type)


def test_message_names_query_column_and_both_rows():
    with pytest.raises(Mismatch) as caught:
        compare(PLAIN, postgres(("a", 1)), postgres(("a", 2)))
    message = str(caught.value)
    assert message.startswith("q: values, column 2 (c1): expected 1, got 2")
    assert "(a, 1) and (a, 2)" in message


def test_float_noise_does_not_part_a_pair():
    """Rows whose exact columns agree align although their floats differ in
    the last bits, in either direction."""
    left = postgres(("a", 1.0), ("b", 1.0 - 1e-12))
    right = postgres(("b", 1.0 + 1e-12), ("a", 1.0 - 1e-13))
    compare(PLAIN, left, right)
