"""JSONBench without a server: documents, questions, systems, bars."""

from __future__ import annotations

import datetime
import gzip
import json
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bench import bluesky
from bench.bars import bars
from bench.config import Config, from_environment
from bench.jsonbench_sql import MORE, queries
from bench.results import Cell, Results
from bench.sections import WHOLE
from bench.systems import KNOWN


@pytest.fixture(scope="module")
def made() -> list[dict]:
    return [json.loads(text) for text in bluesky.documents(5000)]


def test_made_documents_are_the_same_every_time():
    assert list(bluesky.documents(300)) == list(bluesky.documents(300))
    assert len(list(bluesky.documents(10_001))) == 10_001


def test_made_documents_are_like_the_real_ones(made):
    kinds = Counter(doc["kind"] for doc in made)
    assert kinds["commit"] > 0.98 * len(made)
    assert set(kinds) == {"commit", "identity", "account"}
    collections = Counter(doc.get("commit", {}).get("collection") for doc in made)
    order = (bluesky.LIKE, bluesky.POST, bluesky.FOLLOW, bluesky.REPOST)
    assert tuple(name for name, _ in collections.most_common(4)) == order
    times = [doc["time_us"] for doc in made]
    assert times == sorted(set(times))
    assert 0.9 * bluesky.DAY < times[-1] - times[0] < 1.1 * bluesky.DAY
    assert {len(doc["did"]) for doc in made} == {32}
    users = Counter(doc["did"] for doc in made).most_common()
    assert users[0][1] > 5 * len(made) / len(users)


def test_made_documents_have_what_is_asked_for(made):
    records = [doc["commit"].get("record") for doc in made if "commit" in doc]
    assert {doc["commit"]["operation"] for doc in made if "commit" in doc} == {
        "create",
        "update",
        "delete",
    }
    posts = [r for r in records if r and r["$type"] == bluesky.POST]
    assert all("text" in post and "createdAt" in post for post in posts)
    assert any("reply" in post for post in posts)
    assert any(post.get("langs") == ["en"] for post in posts)
    images = [
        image["image"]
        for post in posts
        for image in post.get("embed", {}).get("images", ())
    ]
    assert any(image["size"] > 500_000 for image in images)
    assert any(image["size"] < 500_000 for image in images)


def test_size_of_made_documents(tmp_path):
    path = tmp_path / "made.json"
    assert bluesky.write(path, 2000) == 2000
    assert 450 < path.stat().st_size / 2000 < 600


def test_first_documents_of_files(tmp_path):
    one = [b'{"n":1}', rb'{"n":"\u0000"}', rb'{"n":"\ud83d"}', rb'{"n":"\u00e9"}']
    with gzip.open(tmp_path / "file_0001.json.gz", "wb") as file:
        file.write(b"\n".join(one))
    (tmp_path / "file_0002.json").write_bytes(b'{"n":3}\n\n{"n":4}\r\n')
    (tmp_path / "notes.txt").write_text("no documents")
    kept = [one[0], one[3], b'{"n":3}', b'{"n":4}']
    assert list(bluesky.of_files(tmp_path, 9)) == kept
    assert list(bluesky.of_files(tmp_path, 3)) == kept[:3]
    assert list(bluesky.of_files(tmp_path / "file_0002.json", 1)) == [b'{"n":3}']
    out = tmp_path / "out"
    assert bluesky.write(out, 3, tmp_path) == 3
    assert out.read_bytes() == b"".join(line + b"\n" for line in kept[:3])


def test_the_five_questions():
    found = [one.query for one in queries()]
    assert [query.name for query in found] == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    assert [query.order_by for query in found] == [(1,), (1,), (0, 1), (1,), (1,)]
    assert [query.limited for query in found] == [False] * 3 + [True] * 2
    for query in found:
        plain, declared = query.clickhouse
        for text in (query.sql, query.duckdb, plain, declared):
            assert "{" not in text and text.startswith("SELECT")
        assert ".:String" in plain and ".:" not in declared
        assert "data.commit.collection" in declared


def test_the_other_questions():
    assert len({one.name for one in MORE}) == len(MORE) == 21
    assert {one.name for one in MORE if one.since > 15} == {"json_value", "json_table"}
    assert len([one for one in MORE if one.name.startswith(WHOLE)]) == 2
    for one in MORE:
        found = one.checked
        assert "jsonbench" in found.query.sql
        assert found.whole == ""
        assert (found.keyed is not None) == found.query.limited


def test_systems(monkeypatch):
    pytest.importorskip("duckdb")
    from bench import clickhouse, jsonbench

    def names(chosen: str, asked: tuple[str, ...] = ()) -> list[str]:
        lab = SimpleNamespace(
            systems=[KNOWN[name] for name in chosen.split()],
            config=replace(Config(), systems=asked),
        )
        return [system.name for system in jsonbench.systems(lab)]

    monkeypatch.setattr(clickhouse, "version", lambda: "1")
    assert names("heap colcompress rowcompress sorted_heap duckdb") == [
        "heap",
        "heap_indexed",
        "colcompress",
        "colcompress_sorted",
        "duckdb",
        "clickhouse",
        "clickhouse_declared",
    ]
    assert names("heap rowcompress clickhouse", ("rowcompress", "clickhouse")) == [
        "heap",
        "heap_indexed",
        "rowcompress",
        "clickhouse",
        "clickhouse_declared",
    ]
    monkeypatch.setattr(clickhouse, "version", lambda: "")
    assert names("heap duckdb") == ["heap", "heap_indexed", "duckdb"]


def test_the_order_is_a_string_of_sql():
    pytest.importorskip("duckdb")
    from bench.jsonbench import DATA

    (sql,) = KNOWN["colcompress"].prepare_sql(DATA)
    assert "orderby => '(doc->>''kind''), (doc->''commit''" in sql


def test_results_of_clickhouse():
    from bench.clickhouse import _result

    text = json.dumps(
        {
            "meta": [
                {"name": "a", "type": "Nullable(DateTime64(6))"},
                {"name": "n", "type": "UInt64"},
            ],
            "data": [["2025-01-15 01:02:03.000004", 5], [None, 6]],
        }
    )
    found = _result(text.encode())
    assert found.names == ("a", "n")
    assert found.rows == [(datetime.datetime(2025, 1, 15, 1, 2, 3, 4), 5), (None, 6)]
    assert _result(b"") is None


def test_environment(tmp_path):
    alone = {"DATASETS": "jsonbench"}
    assert from_environment(alone).rows == 500_000
    assert from_environment(alone | {"ROWS": "7"}).rows == 7
    assert from_environment({"DATASETS": "jsonbench,events"}).rows == 1_000_000
    with pytest.raises(ValueError, match="JSONBENCH"):
        from_environment(alone | {"JSONBENCH": str(tmp_path)})
    (tmp_path / "file_0001.json.gz").touch()
    given = from_environment(alone | {"JSONBENCH": str(tmp_path)})
    assert given.jsonbench == tmp_path.resolve()
    assert from_environment(alone | {"SYSTEMS": "clickhouse"}).systems
    with pytest.raises(ValueError, match="clickhouse"):
        from_environment({"DATASETS": "events", "SYSTEMS": "clickhouse"})


def test_bars():
    found = Results()

    def add(section: str, name: str, unit: str, **figures: float) -> None:
        for system, value in figures.items():
            found.add(Cell("jsonbench", section, name, system, unit, [value]))

    add("load", "load", "s", colcompress_sorted=3, clickhouse_declared=2)
    add("size", "table", "MB", colcompress_sorted=1, clickhouse_declared=2)
    add("hot, serial", "Q1", "ms", colcompress=9, clickhouse=19)
    add("hot, serial", "Q1", "ms", colcompress_sorted=9, clickhouse_declared=4)
    add("other questions, serial", "keys", "ms", heap=99, colcompress=9)
    add("other questions, serial", "each", "ms", heap=9, colcompress=7)
    add("other questions, serial", "whole: as text", "ms", heap=9, colcompress=5)
    add("other questions, serial", "made: without nulls", "ms", heap=9, colcompress=8)
    assert [line[1:] for line in bars(found)[1:]] == [
        ["", "2.00", "1", "NO"],
        ["", "0.50", "0.6", "yes"],
        ["", "0.50", "0.65", "yes"],
        ["", "1.50", "1", "NO"],
        ["whole: as text", "0.60", "0.7", "yes"],
        ["made: without nulls", "0.90", "1", "yes"],
        ["each", "0.80", "0.5", "NO"],
    ]
