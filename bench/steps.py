"""The steps of a run, in order. Each is one test of the pytest session.

A step fails when a system of this project or heap ends in an error, or when
any system's result is wrong. A timeout is a figure of its own, and errors of
other systems are reported, no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bench import (
    clickbench,
    documents,
    keyorder,
    keyorder_online,
    live,
    points,
    tpcb,
    tpch,
    zson,
    zson_points,
)
from bench.churn import COMPACTED, DELETED, Churn
from bench.config import Config
from bench.dataset import Dataset, Query
from bench.delta import SECTION as DELTA
from bench.delta import make_delta
from bench.events import EVENTS_DATA
from bench.instructions import count_instructions
from bench.lab import DATASETS, Lab
from bench.load import (
    build_indexes,
    check_rows,
    load_rounds,
    parts,
    settle,
    sizes,
)
from bench.measure import judge
from bench.progress import progress
from bench.report import cell_text
from bench.results import Cell
from bench.sections import CLICKBENCH, LIVE, PARALLEL, SERIAL, TPCH, WITH_KEYS
from bench.writes import write_path


@dataclass(frozen=True)
class Step:
    """A named piece of the run."""

    name: str
    run: Callable[[Lab], None]


def plan(config: Config) -> Iterator[Step]:
    """All steps of a run."""
    for name in config.datasets:
        if name == keyorder.NAME:
            yield from keyorder.steps(Step)
            yield from keyorder_online.steps(Step)
            yield keyorder.end(Step)
            continue
        if name == tpcb.NAME:
            yield from tpcb.steps(_judged)
            continue
        if name == LIVE:
            yield _judged(LIVE, live.run)
            continue
        if name == TPCH:
            yield from tpch.steps(config, _judged)
            continue
        if name == CLICKBENCH:
            yield from clickbench.steps(config, _judged)
            continue
        dataset = DATASETS[name]
        yield Step(f"{name}-load", _with(_load, dataset))
        yield from _query_steps(dataset, SERIAL, dataset.queries)
        yield from _query_steps(dataset, SERIAL, _only_keys(dataset))
        yield from _query_steps(dataset, PARALLEL, dataset.queries)
        yield from _query_steps(dataset, PARALLEL, _only_keys(dataset))
        yield Step(f"{name}-key-indexes", _with(_key_indexes, dataset))
        yield from _query_steps(dataset, WITH_KEYS, dataset.keys + dataset.key_rows)
        if dataset.unique_key:
            yield _judged(f"{name}-points", _with(points.cached, dataset))
            yield _judged(f"{name}-points-starved", _with(points.starved, dataset))
            yield from _churn_steps(dataset)
            yield Step(f"{name}-documents", _with(documents.fetch, dataset))
        yield Step(f"{name}-writes", _with(_writes, dataset))
        if dataset.unique_key:
            yield Step(f"{name}-delta", _with(_delta, dataset))
            yield from _query_steps(dataset, DELTA, dataset.queries)
        if name == EVENTS_DATA.name:
            yield Step(f"{name}-instructions", _with(_instructions, dataset))
        yield Step(f"{name}-discard", _with(Lab.discard, dataset))
    if config.documents:
        for kind in zson.available():
            yield Step(f"zson-{kind.replace(' ', '-')}", _documents(kind))
        for kind in zson_points.available():
            yield _judged(f"zson-points-{kind}", _document_points(kind))


def _judged(name: str, function: Callable[[Lab], None]) -> Step:
    """A step that fails where a cell it adds does."""

    def run(lab: Lab) -> None:
        known = len(lab.results.cells)
        function(lab)
        judge(lab.systems, lab.results.cells[known:])

    return Step(name, run)


def _churn_steps(dataset: Dataset) -> Iterator[Step]:
    churn = Churn(dataset)
    name = dataset.name
    yield _judged(f"{name}-churn-load", churn.load)
    yield from _churn_queries(dataset, "deleted", churn.query_sprinkled, DELETED)
    yield _judged(f"{name}-churn", churn.change)
    yield _judged(f"{name}-churn-compact", churn.compact)
    yield from _churn_queries(dataset, "compacted", churn.query, COMPACTED)
    yield _judged(f"{name}-churn-check", churn.check)
    yield Step(f"{name}-churn-discard", lambda lab: churn.discard())


def _churn_queries(
    dataset: Dataset,
    state: str,
    ask: Callable[[Lab, Query], list[Cell]],
    suffix: str,
) -> Iterator[Step]:
    for query in dataset.queries:

        def run(lab: Lab, query: Query = query) -> None:
            cells = {cell.system: cell for cell in ask(lab, query)}
            progress(
                f"{dataset.name}: {state}: {query.name}:",
                " · ".join(
                    f"{name} {cell_text(cells[name + suffix], cell)}"
                    for name, cell in cells.items()
                    if name + suffix in cells
                ),
            )

        yield _judged(f"{dataset.name}-churn-{state}-{query.name}", run)


def _documents(kind: str) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        results = lab.results
        known = len(results.cells)
        results.systems += [
            name for name in (*zson.SYSTEMS, zson.LIMIT) if name not in results.systems
        ]
        with zson.session(lab.cluster.dsn("postgres")) as conn:
            zson.bench(conn, kind, results)
        for name, cells in results.table(f"zson {kind}", "access").items():
            progress(
                f"zson {kind}: {name}:",
                " · ".join(
                    f"{c.system} {cell_text(c, cells[zson.JSONB])}"
                    for c in cells.values()
                ),
            )
        judge(lab.systems, results.cells[known:])

    return run


def _document_points(kind: str) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        results = lab.results
        results.systems += [
            name for name in zson_points.SYSTEMS if name not in results.systems
        ]
        zson_points.run(lab.cluster.server, results, [kind])

    return run


def _only_keys(dataset: Dataset) -> tuple[Query, ...]:
    return tuple(q for q in dataset.keys if q not in dataset.queries)


def _with(
    function: Callable[[Lab, Dataset], None], dataset: Dataset
) -> Callable[[Lab], None]:
    return lambda lab: function(lab, dataset)


def _query_steps(
    dataset: Dataset, section: str, queries: tuple[Query, ...]
) -> Iterator[Step]:
    for query in queries:

        def run(lab: Lab, query: Query = query) -> None:
            _query(lab, dataset, section, query)

        yield Step(f"{dataset.name}-{section}-{query.name}", run)


def _load(lab: Lab, dataset: Dataset) -> None:
    known = len(lab.results.cells)
    lab.setup(dataset)
    load_rounds(lab, dataset)
    check_rows(lab, dataset, dataset.name, "load", "all rows read")
    for system in lab.postgres:
        lab.engine(dataset, system).rows("DROP TABLE base")
        build_indexes(
            lab,
            dataset,
            system,
            dataset.indexes.get(system.indexes, ()),
            "indexes",
        )
        settle(lab, dataset, system)
    sizes(lab, dataset)
    parts(lab, dataset)
    _note_statements(lab, dataset)
    judge(lab.systems, lab.results.cells[known:])


def _note_statements(lab: Lab, dataset: Dataset) -> None:
    queries = dataset.queries + _only_keys(dataset) + dataset.key_rows
    texts = lab.results.texts
    texts.append(
        (
            f"{dataset.name}: queries",
            "\n".join(f"-- {q.name}\n{q.sql};" for q in queries),
        )
    )
    if any(not system.postgres for system in lab.systems):
        load = dataset.duckdb_load(lab.csv(dataset).name)
        texts.append(
            (
                f"{dataset.name}: DuckDB",
                f"CREATE TABLE {dataset.name} ({dataset.duckdb_ddl});\n"
                f"{load};\n"
                + "\n".join(f"-- {q.name}\n{q.duckdb_sql};" for q in queries),
            )
        )


def _query(lab: Lab, dataset: Dataset, section: str, query: Query) -> None:
    systems = lab.systems
    if section in (WITH_KEYS, DELTA):
        systems = lab.keyed
        if len(systems) == 1:
            return
    engines = lab.engines(dataset, systems)
    workers = lab.config.workers if section == PARALLEL else 0
    for engine in engines.values():
        engine.mode(workers)
    lab.measure(dataset, engines, query, section)


def _key_indexes(lab: Lab, dataset: Dataset) -> None:
    known = len(lab.results.cells)
    for system in lab.postgres:
        if system.ours:
            build_indexes(lab, dataset, system, dataset.key_indexes, "key indexes")
            settle(lab, dataset, system)
    judge(lab.systems, lab.results.cells[known:])


def _writes(lab: Lab, dataset: Dataset) -> None:
    known = len(lab.results.cells)
    write_path(lab, dataset)
    judge(lab.systems, lab.results.cells[known:])


def _delta(lab: Lab, dataset: Dataset) -> None:
    known = len(lab.results.cells)
    if len(lab.keyed) > 1:
        make_delta(lab, dataset)
    judge(lab.systems, lab.results.cells[known:])


def _instructions(lab: Lab, dataset: Dataset) -> None:
    known = len(lab.results.cells)
    count_instructions(lab, dataset)
    judge(lab.systems, lab.results.cells[known:])
