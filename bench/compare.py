"""Is one system's result the same as heap's?

Rules, in this order:
- the same number of columns and rows, and between PostgreSQL systems the same
  column names and types;
- where the query orders its result, the ordering columns agree position by
  position; apart from that rows are a multiset;
- between PostgreSQL systems every value agrees byte for byte in its text
  form, numeric's scale included, except float8 and float4: those agree to
  1e-9 relative, and to 1e-5 where they come from real columns, because the
  order of additions is free;
- DuckDB's values are compared as numbers, dates, text: integers and decimals
  exactly, whatever their scale; where either side is a float (DuckDB's avg()
  is always one) to the same relative tolerances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bench.dataset import Query

FLOAT_TOLERANCE = 1e-9
REAL_TOLERANCE = 1e-5


@dataclass(frozen=True)
class Result:
    """What a query returned.

    names   column names
    types   type names as the system calls them; PostgreSQL's type OIDs
    rows    values as Python objects
    texts   the same in the server's text form, None where the system has none
    """

    names: tuple[str, ...]
    types: tuple[Any, ...]
    rows: list[tuple]
    texts: list[tuple] | None = None


class Mismatch(AssertionError):
    """Two results differ; the message names the first difference."""


@dataclass(frozen=True)
class _Cell:
    """A value with the text that must agree when it is not a float."""

    value: Any
    text: bytes | None


def _number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def close(left: Any, right: Any, tolerance: float) -> bool:
    """Do two numbers agree to `tolerance`, relative to the larger one?

    NaN agrees with NaN and an infinity with itself.
    """
    a, b = float(left), float(right)
    if math.isnan(a) or math.isnan(b):
        return math.isnan(a) and math.isnan(b)
    if math.isinf(a) or math.isinf(b):
        return a == b
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def _same(left: _Cell, right: _Cell, tolerance: float) -> bool:
    a, b = left.value, right.value
    if a is None or b is None:
        return a is None and b is None
    numbers = _number(a) and _number(b)
    if numbers and (isinstance(a, float) or isinstance(b, float)):
        return close(a, b, tolerance)
    if left.text is not None and right.text is not None:
        return left.text == right.text
    if _number(a) != _number(b):
        return False
    return a == b


def _cells(result: Result, with_text: bool) -> list[tuple[_Cell, ...]]:
    texts: Sequence = result.texts if with_text and result.texts else ()
    return [
        tuple(
            _Cell(value, texts[row][column] if texts else None)
            for column, value in enumerate(values)
        )
        for row, values in enumerate(result.rows)
    ]


def _sort_key(row: tuple[_Cell, ...], inexact: set[int]) -> tuple:
    """Orders rows so that equal multisets align: exact columns first, so that
    a float that differs in its last bit does not part a pair."""

    def key(cell: _Cell) -> tuple:
        value = cell.value
        if value is None:
            return (0, 0.0, "")
        if _number(value):
            number = float(value)
            return (1, math.inf if math.isnan(number) else number, "")
        return (2, 0.0, str(value))

    exact = [i for i in range(len(row)) if i not in inexact]
    return tuple(key(row[i]) for i in [*exact, *sorted(inexact)])


def _inexact(*results: Result) -> set[int]:
    return {
        column
        for result in results
        for row in result.rows
        for column, value in enumerate(row)
        if isinstance(value, float)
    }


def _show(row: tuple[_Cell, ...]) -> str:
    return "(" + ", ".join(str(cell.value) for cell in row) + ")"


def _without_ties(
    rows: list[tuple[_Cell, ...]], query: Query
) -> list[tuple[_Cell, ...]]:
    """Rows whose ordering columns differ from the last row's, and behind an
    OFFSET from the first row's."""

    def ordering(row: tuple[_Cell, ...]) -> tuple:
        return tuple(row[column].value for column in query.order_by)

    if not rows:
        return rows
    ends = [ordering(rows[-1])]
    if query.offset:
        ends.append(ordering(rows[0]))
    return [row for row in rows if ordering(row) not in ends]


def compare(query: Query, expected: Result, got: Result) -> None:
    """Raise Mismatch at the first difference of `got` from `expected`.

    Where either has no text form (DuckDB's) values are compared.
    """

    def fail(what: str) -> None:
        raise Mismatch(f"{query.name}: {what}")

    def tolerance(column: int) -> float:
        return REAL_TOLERANCE if column in query.real else FLOAT_TOLERANCE

    def compare_rows(a, b, columns, where: str) -> None:
        for column in columns:
            if not _same(a[column], b[column], tolerance(column)):
                fail(
                    f"{where}, column {column + 1}"
                    f" ({expected.names[column]}): expected"
                    f" {a[column].value!r}, got {b[column].value!r};"
                    f" rows {_show(a)} and {_show(b)}"
                )

    if len(expected.names) != len(got.names):
        fail(f"{len(got.names)} columns, expected {len(expected.names)}")
    with_text = expected.texts is not None and got.texts is not None
    if with_text and (expected.names, expected.types) != (
        got.names,
        got.types,
    ):
        fail(
            f"columns {got.names} of types {got.types}, expected"
            f" {expected.names} of types {expected.types}"
        )
    if len(expected.rows) != len(got.rows):
        fail(f"{len(got.rows)} rows, expected {len(expected.rows)}")

    left = _cells(expected, with_text)
    right = _cells(got, with_text)
    for number, (a, b) in enumerate(zip(left, right, strict=True), 1):
        compare_rows(a, b, query.order_by, f"order at row {number}")
    if query.limited:
        left = _without_ties(left, query)
        right = _without_ties(right, query)
        if len(left) != len(right):
            fail("different rows before the ties of the last one")
    inexact = _inexact(expected, got)
    left.sort(key=lambda row: _sort_key(row, inexact))
    right.sort(key=lambda row: _sort_key(row, inexact))
    for a, b in zip(left, right, strict=True):
        compare_rows(a, b, range(len(expected.names)), "values")
