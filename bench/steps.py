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
    jsonbench,
    keyorder,
    keyorder_online,
    live,
    points,
    switch,
    tpcb,
    tpch,
    verdict,
    warehouse,
    zson,
    zson_points,
)
from bench.churn import COMPACTED, DELETED, Churn
from bench.config import SUMMARY, Config
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
from bench.progress import progress, say
from bench.report import cell_text
from bench.results import Cell
from bench.sections import (
    CLICKBENCH,
    FIRST,
    JSONBENCH,
    LIVE,
    PARALLEL,
    SERIAL,
    SWITCH,
    TPCH,
    WAREHOUSE,
    WITH_KEYS,
)
from bench.systems import HEAP
from bench.writes import write_path


@dataclass(frozen=True)
class Step:
    """A named piece of the run."""

    name: str
    run: Callable[[Lab], None]


def plan(config: Config) -> Iterator[Step]:
    """All steps of a run."""
    for name in config.datasets:
        yield from _PLANS[name](config)


def _summary(config: Config) -> Iterator[Step]:
    """A first look at few rows with a verdict, then the same at all rows, and more."""
    for step in (*_outline(config), Step("discard", _with(Lab.discard, EVENTS_DATA))):
        yield Step(f"{FIRST}-{step.name}", _first_look(step))
    yield Step(f"{FIRST}-verdict", _first_verdict)
    yield from _outline(config)
    yield from _query_steps(EVENTS_DATA, PARALLEL, EVENTS_DATA.queries)
    yield from _query_steps(EVENTS_DATA, WITH_KEYS, EVENTS_DATA.keys[:8])
    yield Step("events-discard", _with(Lab.discard, EVENTS_DATA))
    yield from keyorder.outline(_judged)


def _outline(config: Config) -> Iterator[Step]:
    """Size, load, queries, points by key, JSON documents."""
    yield _judged("events-load", _with(_load, EVENTS_DATA))
    yield from _query_steps(EVENTS_DATA, SERIAL, EVENTS_DATA.queries)
    yield _judged("events-key-indexes", _with(_key_indexes, EVENTS_DATA))
    yield _judged("events-points", _with(points.cached, EVENTS_DATA))
    for kind in zson.FEW:
        yield _judged(f"zson-{kind.replace(' ', '-')}", _documents(kind))


def _first_look(step: Step) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        whole, lab.config = lab.config, lab.config.first_look
        try:
            step.run(lab)
        finally:
            lab.config = whole

    return run


def _first_verdict(lab: Lab) -> None:
    """Show the verdict on few rows; what follows replaces it."""
    rows = lab.config.first_look.rows
    say(f"\nFirst verdict, {rows:,} rows:\n\n{verdict.text(lab.results)}\n")
    lab.results.clear()


def _keyorder(config: Config) -> Iterator[Step]:
    yield from keyorder.steps(Step)
    yield from keyorder_online.steps(Step)
    yield keyorder.end(Step)


def _zson(config: Config) -> Iterator[Step]:
    for kind in zson.available():
        yield _judged(f"zson-{kind.replace(' ', '-')}", _documents(kind))
    for kind in zson_points.available():
        yield _judged(f"zson-points-{kind}", _document_points(kind))


def _dataset(dataset: Dataset) -> Iterator[Step]:
    """Everything about a table of the same rows in each system."""
    name = dataset.name
    yield _judged(f"{name}-load", _with(_load, dataset))
    for section in (SERIAL, PARALLEL):
        yield from _query_steps(dataset, section, dataset.queries)
        yield from _query_steps(dataset, section, _only_keys(dataset))
    yield _judged(f"{name}-key-indexes", _with(_key_indexes, dataset))
    yield from _query_steps(dataset, WITH_KEYS, dataset.keys + dataset.key_rows)
    if dataset.unique_key:
        yield _judged(f"{name}-points", _with(points.cached, dataset))
        yield _judged(f"{name}-points-starved", _with(points.starved, dataset))
        yield from _churn_steps(dataset)
        yield Step(f"{name}-documents", _with(documents.fetch, dataset))
    yield _judged(f"{name}-writes", _with(write_path, dataset))
    if dataset.unique_key:
        yield _judged(f"{name}-delta", _with(make_delta, dataset))
        yield from _query_steps(dataset, DELTA, dataset.queries)
    if name == EVENTS_DATA.name:
        yield _judged(f"{name}-instructions", _with(count_instructions, dataset))
    yield Step(f"{name}-discard", _with(Lab.discard, dataset))


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


def _varied(step: Step) -> Step:
    """The step of jsonbench with the systems that it makes of those asked for."""

    def run(lab: Lab) -> None:
        usual, lab.systems = lab.systems, jsonbench.systems(lab)
        try:
            step.run(lab)
        finally:
            lab.systems = usual

    return Step(step.name, run)


def _documents(kind: str) -> Callable[[Lab], None]:
    def run(lab: Lab) -> None:
        results = lab.results
        results.systems += [
            name for name in (*zson.SYSTEMS, zson.LIMIT) if name not in results.systems
        ]
        with zson.session(lab.cluster.dsn("postgres")) as conn:
            zson.bench(conn, kind, results, lab.config.documents)
        for name, cells in results.table(f"zson {kind}", "access").items():
            progress(
                f"zson {kind}: {name}:",
                " · ".join(
                    f"{c.system} {cell_text(c, cells[zson.JSONB])}"
                    for c in cells.values()
                ),
            )

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
    for section, name in (("load", "INSERT ... SELECT"), ("size", "table")):
        cells = lab.results.table(dataset.name, section)[name]
        texts = [f"{c.system} {cell_text(c, cells[HEAP])}" for c in cells.values()]
        unit = cells[HEAP].unit
        progress(f"{dataset.name}: {section}, {unit}:", " · ".join(texts))


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
    for system in lab.postgres:
        if system.ours:
            build_indexes(lab, dataset, system, dataset.key_indexes, "key indexes")
            settle(lab, dataset, system)


_PLANS: dict[str, Callable[[Config], Iterator[Step]]] = {
    SUMMARY: _summary,
    keyorder.NAME: _keyorder,
    tpcb.NAME: lambda config: tpcb.steps(_judged),
    LIVE: lambda config: iter([_judged(LIVE, live.run)]),
    SWITCH: lambda config: iter([_judged(SWITCH, switch.run)]),
    TPCH: lambda config: tpch.steps(config, _judged),
    WAREHOUSE: lambda config: warehouse.steps(config, _judged),
    CLICKBENCH: lambda config: clickbench.steps(config, _judged),
    JSONBENCH: lambda config: map(_varied, jsonbench.steps(config, _judged)),
    "zson": _zson,
    **{
        name: lambda config, dataset=dataset: _dataset(dataset)
        for name, dataset in DATASETS.items()
    },
}
