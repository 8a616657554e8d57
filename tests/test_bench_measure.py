"""The measuring loop: rounds, budgets, timeouts, and that it trusts no result."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bench.compare import Result
from bench.config import Config
from bench.dataset import Query
from bench.engines import QueryFailed, QueryTimeout
from bench.events import EVENTS_DATA
from bench.instructions import QUERIES as INSTRUCTIONS
from bench.instructions import count_instructions, read_counts
from bench.measure import judge, measure
from bench.results import ERROR, NOT_MEASURED, OK, TIMEOUT, WRONG, Results
from bench.systems import KNOWN

QUERY = Query("Q", "SELECT 1")
CONFIG = replace(Config(), runs=3)


class FakeEngine:
    """Answers with the given results in turn, the last one for ever."""

    def __init__(self, *answers, ms: float = 50.0) -> None:
        self.answers = list(answers)
        self.ms = ms
        self.calls = 0

    def text(self, query: Query) -> str:
        return query.sql

    def timed(self, sql: str, timeout: float):
        self.calls += 1
        answer = self.answers[min(self.calls, len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        text = str(answer).encode()
        return Result(("c",), (23,), [(answer,)], [(text,)]), self.ms


def cells(config=CONFIG, **engines):
    found = measure(QUERY, engines, config, "events", "serial")
    return {cell.system: cell for cell in found}


def test_rounds_after_one_warm_up():
    heap, other = FakeEngine(1), FakeEngine(1, ms=10.0)
    found = cells(heap=heap, other=other)
    assert found["heap"].samples == [50.0] * 3
    assert heap.calls == 4
    # A shorter query is repeated in each round.
    assert found["other"].samples == [10.0] * 6
    assert found["other"].median == 10.0


def test_wrong_result_of_the_warm_up_is_seen():
    other = FakeEngine(2)
    found = cells(heap=FakeEngine(1), other=other)
    assert found["other"].status == WRONG
    assert "expected 1, got 2" in found["other"].note
    assert found["other"].median is None
    assert other.calls == 1


def test_wrong_result_of_a_later_round_is_seen():
    found = cells(heap=FakeEngine(1), other=FakeEngine(1, 1, 1, 2))
    assert found["other"].status == WRONG
    assert found["heap"].status == OK


def test_timeout_and_error_end_a_system_but_no_other():
    slow = FakeEngine(QueryTimeout("more than 60 s"))
    broken = FakeEngine(1, QueryFailed("no such thing"))
    found = cells(heap=FakeEngine(1), slow=slow, broken=broken)
    assert (found["slow"].status, slow.calls) == (TIMEOUT, 1)
    assert (found["broken"].status, broken.calls) == (ERROR, 2)
    assert found["broken"].note == "no such thing"
    assert len(found["heap"].samples) == 3


def test_nothing_is_measured_without_a_result_of_heap():
    other = FakeEngine(1)
    found = cells(heap=FakeEngine(QueryTimeout("slow")), other=other)
    assert found["heap"].status == TIMEOUT
    assert (found["other"].status, other.calls) == (ERROR, 0)


def test_slow_query_gets_fewer_rounds():
    config = replace(CONFIG, runs=100, cell=1.0)
    found = cells(config, heap=FakeEngine(1, ms=300.0))
    assert len(found["heap"].samples) == 3


@pytest.mark.parametrize(
    ("system", "status", "fails"),
    [
        ("heap", OK, False),
        ("heap", ERROR, True),
        ("colcompress", ERROR, True),
        ("colcompress", WRONG, True),
        ("colcompress", TIMEOUT, False),
        ("duckdb", ERROR, False),
        ("duckdb", WRONG, True),
    ],
)
def test_which_cells_fail_the_run(system, status, fails):
    cell = cells(heap=FakeEngine(1))["heap"]
    cell.system, cell.status, cell.note = system, status, "the reason"
    systems = [KNOWN["heap"], KNOWN["colcompress"], KNOWN["duckdb"]]
    if fails:
        with pytest.raises(AssertionError, match=f"Q, {system}.*the reason"):
            judge(systems, [cell])
    else:
        judge(systems, [cell])


def test_duckdb_query_is_interrupted_at_the_timeout(tmp_path):
    pytest.importorskip("duckdb")
    from bench.duck import DuckDBEngine

    engine = DuckDBEngine(tmp_path / "x.duckdb")
    try:
        with pytest.raises(QueryTimeout):
            engine.timed(
                "SELECT count(*) FROM range(10000000) a, range(10000000) b"
                " WHERE a.range + b.range = 7",
                0.2,
            )
        result, elapsed = engine.timed("SELECT 42 AS answer", 10)
        assert (result.names, result.rows) == (("answer",), [(42,)])
        assert elapsed > 0
        with pytest.raises(QueryFailed):
            engine.timed("SELECT nothing", 10)
    finally:
        engine.close()


def test_counts_of_callgrind_in_order(tmp_path):
    out = tmp_path / "out"
    for number in range(12, 0, -1):
        dump = f"# callgrind format\npart: {number}\n\nsummary: {number * 10}\n"
        (tmp_path / f"out.{number}").write_text(dump)
    out.write_text("summary: 0\n")
    assert read_counts(out) == [number * 10 for number in range(1, 13)]


def test_instructions_need_valgrind(monkeypatch):
    monkeypatch.setattr("bench.instructions.shutil.which", lambda name: None)
    systems = [KNOWN["heap"], KNOWN["colcompress"], KNOWN["rowcompress"]]
    lab = SimpleNamespace(systems=systems, results=Results())
    count_instructions(lab, EVENTS_DATA)
    assert len(lab.results.cells) == 2 * len(INSTRUCTIONS)
    assert {cell.status for cell in lab.results.cells} == {NOT_MEASURED}
    judge(systems, lab.results.cells)
