"""Queries that come from files: what their texts say, and how they are checked."""

from __future__ import annotations

import json

import pytest
from test_bench_measure import CONFIG, FakeEngine
from test_bench_measure import QUERY as FAKE

from bench import site
from bench.bars import bars
from bench.compare import Mismatch, Result, compare
from bench.config import from_environment
from bench.dataset import Query
from bench.measure import measure
from bench.results import NOT_MEASURED, OK, TIMEOUT, WRONG, Cell, Results
from bench.sqltext import checked, columns, outside, split, statements


def result(*rows: tuple) -> Result:
    width = len(rows[0]) if rows else 2
    return Result(("x",) * width, ("T",) * width, list(rows))


def test_what_is_outside():
    sql = "SELECT f(a, 'x)') FROM \"o,t\" WHERE b = ','"
    assert len(outside(sql)) == len(sql)
    assert outside(sql).split() == ["SELECT", "f", "FROM", "WHERE", "b", "="]
    assert split("a, f(b, c), 'd,e'") == ["a", "f(b, c)", "'d,e'"]
    assert statements("SELECT ';';\nSELECT 2;\n") == ["SELECT ';'", "SELECT 2"]


def test_columns_of_a_table():
    create = (
        "CREATE TABLE t\n(a INT NOT NULL,\n b  NUMERIC(15, 2),\n PRIMARY KEY (a, b)\n);"
    )
    assert columns(create) == (("a", "INT NOT NULL"), ("b", "NUMERIC(15, 2)"))


@pytest.mark.parametrize(
    ("sql", "order_by", "limited", "offset"),
    [
        ("SELECT a FROM t", (), False, False),
        ("SELECT a, b FROM t ORDER BY b DESC NULLS LAST, a", (1, 0), False, False),
        ("SELECT a, count(*) FROM t GROUP BY a ORDER BY COUNT( * )", (), False, False),
        ("SELECT a, count(*) FROM t GROUP BY a ORDER BY COUNT(*)", (1,), False, False),
        ("SELECT a, sum(b) AS s FROM t GROUP BY 1 ORDER BY s, 1", (1, 0), False, False),
        ("SELECT t.a, b FROM t ORDER BY a LIMIT 3", (0,), True, False),
        ("SELECT * FROM t ORDER BY b LIMIT 3 OFFSET 2", (1,), True, True),
        ("WITH c AS (SELECT 1 ORDER BY 1 LIMIT 1) SELECT a FROM c", (), False, False),
        ("SELECT extract(year FROM d) AS y FROM t ORDER BY y", (0,), False, False),
        ("SELECT a FROM t WHERE b IN (SELECT 1 LIMIT 1)\nORDER BY\n a", (0,), False, False),
        ("SELECT a FROM t ORDER BY b, a", (), False, False),
    ],
)  # fmt: skip
def test_what_a_text_says(sql, order_by, limited, offset):
    found = checked("q", sql, table=("a", "b"))
    assert found.query.order_by == order_by
    assert (found.query.limited, found.query.offset) == (limited, offset)
    assert found.keyed is None and found.whole == ""


def test_keys_that_are_no_columns():
    found = checked("q", "SELECT a FROM t ORDER BY b, a LIMIT 2", "SELECT a FROM u")
    assert found.query.order_by == ()
    assert found.keyed.sql == (
        "SELECT a, b AS order_key_0 FROM t ORDER BY b, a LIMIT 2"
    )
    assert found.keyed.duckdb == "SELECT a, b AS order_key_0 FROM u"
    assert found.keyed.order_by == (1, 0)


def test_rows_without_an_order():
    found = checked("q", "SELECT a FROM t GROUP BY a LIMIT 2")
    assert found.whole.strip() == "SELECT a FROM t GROUP BY a"


def test_offset_makes_ties_at_the_start():
    expected, other = (
        result(("a", 3), ("b", 2), ("c", 1)),
        result(("z", 3), ("b", 2), ("y", 1)),
    )
    limited = Query("q", "", order_by=(1,), limited=True)
    with pytest.raises(Mismatch):
        compare(limited, expected, other)
    window = Query("q", "", order_by=(1,), limited=True, offset=True)
    compare(window, expected, other)
    with pytest.raises(Mismatch):
        compare(window, expected, result(("z", 3), ("x", 2), ("y", 1)))


def test_duckdb_stands_in_where_heap_takes_too_long():
    from bench.engines import QueryTimeout

    def run(ours):
        engines = {
            "heap": FakeEngine(QueryTimeout("slow")),
            "colcompress": FakeEngine(ours),
            "duckdb": FakeEngine(1),
        }
        found = measure(FAKE, engines, CONFIG, "tpch", "serial")
        return {cell.system: cell.status for cell in found}

    assert run(1) == {"heap": TIMEOUT, "colcompress": OK, "duckdb": OK}
    assert run(2) == {"heap": TIMEOUT, "colcompress": WRONG, "duckdb": OK}


def run_of_clickbench() -> Results:
    found = Results(
        systems=["heap", "colcompress", "duckdb"],
        meta={"machine": "a machine", "run": {"rows": 7}},
    )

    def add(section: str, name: str, unit: str, **samples: list) -> None:
        for system, values in samples.items():
            found.add(Cell("clickbench", section, name, system, unit, values))

    add("load", "COPY", "s", heap=[2.0], colcompress=[3.0], duckdb=[1.0])
    add("load", "VACUUM ANALYZE", "s", heap=[1.0], colcompress=[0.5])
    add("load", "all rows read", "s", heap=[9.0], colcompress=[9.0])
    add("size", "table", "MB", heap=[9.0], colcompress=[1.2], duckdb=[2.0])
    add("cold, serial", "0", "ms", heap=[500], colcompress=[50.04], duckdb=[60])
    add("cold, serial", "1", "ms", heap=[], colcompress=[], duckdb=[])
    add("hot, serial", "0", "ms", heap=[99], colcompress=[9, 8, 7], duckdb=[4, 4])
    add("hot, parallel", "0", "ms", heap=[99], colcompress=[11], duckdb=[2])
    for cell in found.cells:
        if cell.name == "1":
            cell.status = NOT_MEASURED
    return found


def test_entry_of_the_public_site(tmp_path):
    found = site.entries(run_of_clickbench(), "20260102")
    assert list(found) == ["heap", "colcompress", "duckdb"]
    entry = found["colcompress"]
    assert entry["system"] == "PostgreSQL (colcompress)"
    assert entry["result"] == [[0.05, 0.009, 0.008], [None, None, None]]
    assert (entry["load_time"], entry["data_size"]) == (3.5, 1_200_000)
    assert (entry["date"], entry["machine"]) == ("20260102", "a machine")
    site.write(run_of_clickbench(), tmp_path, "20260102")
    assert json.loads((tmp_path / "clickbench-heap.json").read_text()) == found["heap"]
    site.write(Results(), tmp_path / "nowhere", "20260102")


def test_bars_of_clickbench():
    assert [line[1:] for line in bars(run_of_clickbench())[1:]] == [
        ["", "1.80", "0.9", "NO"],  # (8 + 1) / (4 + 1)
        ["0", "1.80", "2", "yes"],
        ["", "4.00", "1.2", "NO"],
        ["0", "4.00", "3", "NO"],
        ["0", "1.10", "1", "NO"],
        ["", "0.60", "0.63", "yes"],
        ["", "1.50", "1.3", "NO"],
    ]


def test_bars_of_tpch():
    found = Results()
    for section in ("primary keys, serial", "foreign-key indexes, serial"):
        for name, heap, ours, duckdb in (("1", 99, 9, 4), ("2", 9, 19, 3)):
            for system, value in (
                ("heap", heap),
                ("colcompress", ours),
                ("duckdb", duckdb),
            ):
                found.add(Cell("tpch", section, name, system, "ms", [value]))
    assert [line[1:] for line in bars(found)[1:]] == [
        ["", "3.16", "1.5", "NO"],  # sqrt(10/5 * 20/4)
        ["2", "5.00", "4", "NO"],
        ["2", "2.00", "1", "NO"],
        ["2", "2.00", "1", "NO"],
    ]


@pytest.fixture
def checkout(tmp_path):
    """A directory like a checkout of ClickBench, with texts of our own."""
    for folder, length in (("postgresql", "length"), ("duckdb", "strlen")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "create.sql").write_text(
            "CREATE TABLE hits (Id BIGINT NOT NULL, Word TEXT);\n"
        )
        (tmp_path / folder / "queries.sql").write_text(
            f"SELECT * FROM hits ORDER BY Id LIMIT 2;\nSELECT {length}(Word) FROM hits;\n"
        )
    return tmp_path


def test_files_of_clickbench(checkout):
    pytest.importorskip("duckdb")  # the laboratory brings it
    from bench.clickbench import dataset, first_rows, queries

    one, two = queries(checkout)
    assert (one.query.name, one.query.order_by, one.query.duckdb) == ("0", (0,), None)
    assert two.query.duckdb_sql == "SELECT strlen(Word) FROM hits"
    assert dataset(checkout).ddl == "Id BIGINT NOT NULL, Word TEXT"
    lines = [b'1,"a\n', b'b"\n', b"2,c\n", b"3,d\n"]
    assert list(first_rows(lines, 2, quoted=True)) == lines[:3]
    assert list(first_rows(lines, 2, quoted=False)) == lines[:2]
    assert list(first_rows(lines, 9, quoted=True)) == lines


def test_tables_and_queries_of_tpch(tmp_path):
    pytest.importorskip("duckdb")
    from bench import tpch

    (tmp_path / "queries.json").write_text(
        json.dumps({"10": "SELECT 10", "2": "SELECT a FROM t ORDER BY a LIMIT 1;"})
    )
    two, ten = tpch.queries(tmp_path)
    assert (two.query.name, two.query.order_by, two.query.limited) == ("2", (0,), True)
    assert (ten.query.name, ten.query.sql) == ("10", "SELECT 10")
    for table, (listed, key, foreign) in tpch.TABLES.items():
        names = {name for name, _ in columns(f"CREATE TABLE {table} ({listed})")}
        for some in (key, *foreign):
            assert set(some.split(", ")) <= names
            assert not key.startswith(some) or some == key


def test_the_program_that_makes_tpch_is_asked_for(monkeypatch, tmp_path):
    pytest.importorskip("duckdb")
    from bench import tpch

    monkeypatch.setattr(tpch.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(tpch.shutil, "which", lambda name: None)
    with pytest.raises(RuntimeError, match="pip install tpchgen-cli"):
        tpch.generator()


def test_an_error_of_heap_must_be_everybodys():
    pytest.importorskip("duckdb")
    from bench.asked import _all_fail

    def run(heap: str, ours: str) -> list[str]:
        cells = {
            name: Cell("d", "s", "q", name, "ms", [], status)
            for name, status in (("heap", heap), ("colcompress", ours))
        }
        _all_fail(cells)
        return [cell.status for cell in cells.values()]

    assert run("error", "error") == [NOT_MEASURED, NOT_MEASURED]
    assert run("error", "ok") == [NOT_MEASURED, WRONG]
    assert run("ok", "error") == ["ok", "error"]


def test_environment_of_files(checkout, tmp_path):
    for bad in (
        {"DATASETS": "clickbench"},
        {"DATASETS": "clickbench", "CLICKBENCH": "/nowhere"},
        {"DATASETS": "tpch", "TPCH": str(checkout)},
        {"SF": "0"},
    ):
        with pytest.raises(ValueError, match="CLICKBENCH|TPCH|SF"):
            from_environment(bad)
    good = {"DATASETS": "clickbench", "CLICKBENCH": str(checkout)}
    assert from_environment(good).clickbench == checkout.resolve()
    with pytest.raises(ValueError, match="HITS"):
        from_environment(good | {"HITS": str(tmp_path / "none.csv")})
