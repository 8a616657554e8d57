"""How the benchmark calls pgbench, and what it takes from its output."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("duckdb")  # the laboratory brings it

from bench.config import Config
from bench.lab import Lab, pgbench
from bench.results import ERROR, OK, Cell, Results

OUTPUT = """pgbench (15.0)
number of transactions actually processed: 1200/1200
tps = 345.678 (without initial connection time)
"""


class Cluster:
    """Answers with the given output, and keeps what it was asked."""

    def __init__(self, output: str | Exception) -> None:
        self.output = output
        self.words: tuple[str, ...] = ()

    def dsn(self, database: str) -> str:
        return f"dbname={database}"

    def run(self, *words: str, timeout: float):
        self.words = words
        if isinstance(self.output, Exception):
            raise self.output
        return SimpleNamespace(stdout=self.output)


def lab(tmp_path, cluster: Cluster) -> Lab:
    return Lab(replace(Config(), rows=7), cluster, tmp_path, [], Results())


def test_rate_and_number():
    cluster = Cluster(OUTPUT)
    assert pgbench(cluster, "x", "--time=1", settings={"a": "b"}) == (345.678, 1200)
    assert cluster.words[0] == "pgbench"
    assert {"--client=1", "--jobs=1", "--time=1"} < set(cluster.words)
    assert cluster.words[-1] == "dbname=x options='-c a=b'"


def test_output_without_a_rate_is_an_error():
    with pytest.raises(RuntimeError, match="no such file"):
        pgbench(Cluster("no such file"), "x")


def test_filling_tables_is_no_load():
    cluster = Cluster("done")
    assert pgbench(cluster, "x", "--initialize", clients=0) == (0, 0)
    assert not [word for word in cluster.words if word.startswith("--client")]


def test_a_script_and_its_cell(tmp_path):
    cluster, cell = Cluster(OUTPUT), Cell("d", "s", "n", "heap", "TPS")
    assert lab(tmp_path, cluster).pgbench(cell, "x", script="SELECT 1;\n") == 345.678
    assert (cell.samples, cell.status) == ([345.678], OK)
    (file,) = [w.split("=")[1] for w in cluster.words if w.startswith("--file")]
    with open(file) as text:
        assert text.read() == "SELECT 1;\n"


def test_an_error_is_the_cells(tmp_path):
    cell = Cell("d", "s", "n", "heap", "TPS")
    broken = lab(tmp_path, Cluster(RuntimeError("no server")))
    assert broken.pgbench(cell, "x") is None
    assert (cell.samples, cell.status, cell.note) == ([], ERROR, "no server")
