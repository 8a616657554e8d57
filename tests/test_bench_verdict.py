"""The verdict of a run, and how long a run still takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench import readme
from bench.config import Config, Live, from_environment
from bench.report import document, overview, terminal, write_json
from bench.results import TIMEOUT, Cell, Results
from bench.sections import FIRST
from bench.timing import Clock, duration, expected
from bench.verdict import losses, tables, text


@pytest.fixture
def results() -> Results:
    found = Results(systems=["heap", "colcompress", "duckdb", "jsonb", "zson"])

    def add(dataset: str, section: str, name: str, unit: str, **medians: float) -> None:
        for system, median in medians.items():
            found.add(Cell(dataset, section, name, system, unit, [median]))

    add("events", "serial", "Q1", "ms", heap=40, colcompress=5, duckdb=5)
    add("events", "serial", "Q2", "ms", heap=40, colcompress=80, duckdb=10)
    add("events", "serial", "K9", "ms", heap=40, colcompress=1)  # no area's
    add("events", "serial, with key indexes", "K1", "ms", heap=1, colcompress=1.05)
    add("events", "serial, with key indexes", "K10", "ms", heap=9, colcompress=3)
    add("events", "writes", "COPY from CSV", "rows/s", heap=100, colcompress=50)
    add("zson github", "size", "table", "MB", jsonb=9, zson=3)
    add("zson consul", "size", "table", "MB", jsonb=8, zson=10)
    found.add(Cell("events", "serial", "Q3", "colcompress", "ms", [], TIMEOUT))
    return found


def test_tables_of_the_verdict(results):
    heap, jsonb = tables(results)
    assert heap == [
        ["times better than heap", "colcompress", "duckdb"],
        ["events queries, serial", "2 (0.5 Q2)", "5.7 (4 Q2)"],
        ["rows by key", "0.95", "-"],
        ["COPY", "0.5", "-"],
    ]
    assert jsonb == [
        ["times better than jsonb", "zson"],
        ["JSON documents, table", "1.5 (0.8 consul: table)"],
    ]
    assert tables(Results(systems=["heap"])) == []
    assert text(Results(systems=["heap"])) == ""


def test_what_is_lost_in_words(results):
    assert losses(results) == [
        "colcompress loses to heap: 1 of 2 events queries, serial (Q2: 2.0 times"
        " slower); COPY (2.0 times fewer).",
        "colcompress loses to DuckDB: 1 of 2 events queries, serial (Q2: 8.0 times"
        " slower).",
        "colcompress did not end in time: events Q3.",
        "zson loses to jsonb: 1 of 2 JSON documents, table (consul: table: 1.2 times"
        " larger).",
    ]
    results.cells = [cell for cell in results.cells if cell.name == "Q1"]
    assert losses(results)[0] == "colcompress loses to heap: nothing."


def test_report_begins_with_the_verdict(results):
    report = document(results, [])
    assert report.index("times better than heap") < report.index("## events")
    assert "colcompress loses to DuckDB" in report
    assert terminal(results).endswith("1.2 times larger).")


def test_overview_of_many_runs(results, tmp_path):
    for name in ("events-1000", "zson-1000"):
        (tmp_path / name / "latest").mkdir(parents=True)
        write_json(results, tmp_path / name / "latest" / "results.json")
    found = overview(tmp_path)
    assert found.count("## ") == 2
    assert found.count(losses(results)[0]) == 2
    assert "(zson-1000/latest/report.md)" in found


def test_time_left():
    clock = Clock(["events-serial-Q1", "events-serial-Q2", "sorted-load"], Config())
    assert clock.end("events-serial-Q1", 4.0) == "about 2 min left"
    assert clock.end("sorted-load", 120.0) == "about 4 s left"
    assert clock.end("events-serial-Q2", 2.0) == ""
    assert clock.by_dataset() == {"events": 6.0, "sorted": 120.0}


def test_the_first_look_is_at_fewer_rows():
    pytest.importorskip("duckdb")  # the laboratory brings it
    from bench.steps import Step, _first_look, plan

    config = from_environment({})
    names = [step.name for step in plan(config)]
    verdict = names.index(f"{FIRST}-verdict")
    assert {name.startswith(FIRST) for name in names[:verdict]} == {True}
    assert {f"{FIRST}-{name}" for name in names} >= set(names[:verdict]) - {
        f"{FIRST}-discard"
    }
    assert expected("first-events-load", config) < expected("events-load", config)
    assert config.first_look.rows < config.rows

    seen = []
    step = _first_look(Step("x", lambda lab: seen.append(lab.config.rows)))
    lab = SimpleNamespace(config=config)
    step(lab)
    assert (seen, lab.config) == ([config.first_look.rows], config)


def test_expected_times():
    config = replace(Config(), live=Live(minutes=2, rest=30))
    assert expected("live", config) == 4 * (120 + 30 + 60)
    assert expected("events-load", config) > expected("events-serial-Q1", config)
    longer = replace(config, tpcb=60)
    assert expected("pgbench-20", longer) > 10 * expected("pgbench-20", config)
    assert (duration(89), duration(150)) == ("about 89 s", "about 2 min")


META = {
    "commit": "abc1234",
    "server": "PostgreSQL 15.20 (Debian 15.20-0+deb12u1) on x86_64",
    "DuckDB": "1.4.2",
    "machine": "a processor, 2 CPUs, 8 GiB, Linux 6.1",
    "run": {"datasets": ["summary"]},
}


def test_block_of_readme(results, tmp_path):
    """Verdict, losses, chart and origin of a run, between the marks and again."""
    run, docs = tmp_path / "run", tmp_path / "docs"
    run.mkdir()
    docs.mkdir()
    place = f"first\n{readme.BEGIN}\nold\n{readme.END}\nlast\n"
    (tmp_path / "README.md").write_text(place)
    (run / "summary.png").write_bytes(b"chart")
    results.meta = META
    write_json(results, run / "results.json")
    for _ in range(2):
        readme.main(run, tmp_path)
        text = (tmp_path / "README.md").read_text()
        assert text.startswith(f"first\n{readme.BEGIN}\n## Measured\n")
        assert text.endswith(f"\n{readme.END}\nlast\n")
        assert "old" not in text and text.count(readme.END) == 1
        assert "| events queries, serial | 2 (0.5 Q2) | 5.7 (4 Q2) |" in text
        assert "\ncolcompress loses to DuckDB: " in text
        assert "commit abc1234: PostgreSQL 15.20, DuckDB 1.4.2; a processor" in text
        assert (tmp_path / readme.CHART).read_bytes() == b"chart"


@pytest.mark.parametrize(
    "changed", [{"commit": "abc1234-dirty"}, {"run": {"datasets": ["events"]}}]
)
def test_readme_takes_no_other_run(results, changed):
    results.meta = json.loads(json.dumps(META | changed))
    with pytest.raises(ValueError, match="the run is of"):
        readme.block(results)


def test_readme_has_a_place_for_the_benchmark():
    text = (Path(readme.ROOT) / "README.md").read_text()
    assert "\nfigures\n" in readme.put(text, "figures")
    with pytest.raises(ValueError, match="no place"):
        readme.put("nothing", "figures")
