"""JSONBench: five questions to a table of one JSON column, and others to jsonb.

Its documents are bench.bluesky's, made or of files; every system loads the same file
of them. Heap without and with an index on the expressions that are asked for, ours in
the order of loading and sorted by these expressions, ClickHouse with a plain column and
with declared paths, in that order, too. The five questions run cold, then hot; the others
are asked of heap and the other systems of PostgreSQL alone.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from bench import asked, bluesky, clickhouse
from bench.config import Config
from bench.dataset import Dataset, Index
from bench.engines import QueryFailed, QueryTimeout
from bench.jsonbench_sql import MORE, ORDER, Question, queries
from bench.lab import Lab
from bench.load import (
    build_indexes,
    check_rows,
    create_table,
    prewarm,
    settle,
    sizes,
    timed_cell,
)
from bench.measure import turns
from bench.progress import progress, say
from bench.results import Cell
from bench.sections import HOT, JSONBENCH, MORE_JSON
from bench.systems import (
    CLICKHOUSE,
    DECLARED,
    DUCKDB,
    HEAP,
    INDEXED,
    KNOWN,
    SORTED,
    System,
)

OURS = "colcompress"
USUAL = (HEAP, OURS, DUCKDB, CLICKHOUSE)

DATA = Dataset(
    name=JSONBENCH,
    columns=(("doc", "jsonb NOT NULL"),),
    duckdb=(("doc", "JSON NOT NULL"),),
    fill=lambda *args: None,
    order=ORDER,
    indexes={"heap": (Index(f"btree ({ORDER})"),)},
)

# ClickHouse's column, and the order of its rows.
DYNAMIC = "JSON"
TYPED = (
    "JSON(max_dynamic_paths = 0, kind LowCardinality(String),"
    " commit.operation LowCardinality(String),"
    " commit.collection LowCardinality(String), did String, time_us UInt64)"
)
TYPED_ORDER = (
    "(data.kind, data.commit.operation, data.commit.collection, data.did,"
    " fromUnixTimestamp64Micro(data.time_us))"
)


def _variants(system: System) -> Iterator[System]:
    """The system as it is measured here: heap, ours and ClickHouse twice."""
    unordered = tuple(sql for sql in system.prepare if "{order}" not in sql)
    yield replace(system, prepare=unordered, indexes="none")
    if system.name == HEAP:
        yield replace(system, name=INDEXED)
    elif system.name == OURS:
        yield replace(system, name=SORTED, indexes="none")
    elif system.name == CLICKHOUSE:
        yield replace(system, name=DECLARED)


def systems(lab: Lab) -> list[System]:
    """The systems of this data set; by default those that are usual here."""
    chosen = lab.systems
    if not lab.config.systems:
        found = [*lab.systems, KNOWN[CLICKHOUSE]]
        chosen = [system for system in found if system.name in USUAL]
    return [
        variant
        for system in chosen
        if system.name != CLICKHOUSE or clickhouse.version()
        for variant in _variants(system)
    ]


def _file(lab: Lab) -> Path:
    return lab.scratch / f"{JSONBENCH}.json"


def creation(system: System) -> str:
    """The statement that makes the empty table."""
    if system.postgres:
        return f"CREATE TABLE {JSONBENCH} ({DATA.ddl}) USING {system.am}"
    if system.name == DUCKDB:
        return f"CREATE TABLE {JSONBENCH} ({DATA.duckdb_ddl})"
    declared = system.name == DECLARED
    kind, order = (TYPED, TYPED_ORDER) if declared else (DYNAMIC, "tuple()")
    return f"CREATE TABLE {JSONBENCH} (data {kind}) ENGINE = MergeTree ORDER BY {order}"


def loading(system: System, file: Path) -> list[str]:
    """The statements that load the file, in the order that the system is to have."""
    if system.postgres:  # no document has these characters
        form = r"FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02'"
        order = [f"VACUUM FULL {JSONBENCH}"] if system.name == SORTED else []
        return [f"COPY {JSONBENCH} FROM '{file}' ({form})", *order]
    if system.name == DUCKDB:
        documents = f"read_ndjson_objects('{file}')"
        return [f"INSERT INTO {JSONBENCH} SELECT json FROM {documents}"]
    kind = TYPED if system.name == DECLARED else DYNAMIC
    documents = f"file('{file}', 'JSONAsObject', 'data {kind}')"
    return [f"INSERT INTO {JSONBENCH} SELECT * FROM {documents}"]


def _load_once(lab: Lab, system: System, cell: Cell) -> None:
    """Load the file anew; the seconds are added to the cell."""
    engine = lab.engine(DATA, system)
    if system.postgres:
        create_table(engine, system, DATA, JSONBENCH)
        engine.rows("CHECKPOINT")
    else:
        engine.start_anew()
        engine.mode(0)
        if timed_cell(cell, engine, creation(system), 60) is None:
            return
    spent = 0.0
    for sql in loading(system, _file(lab)):
        seconds = timed_cell(cell, engine, sql, lab.config.load_timeout)
        if seconds is None:
            return
        spent += seconds
    cell.samples.append(spent)


def _arrange(lab: Lab, system: System) -> None:
    """Indexes, and what a system does after a load."""
    engine = lab.engine(DATA, system)
    indexes = DATA.indexes.get(system.indexes, ())
    if indexes:
        build_indexes(lab, DATA, system, indexes, "index")
    if system.name in (CLICKHOUSE, DECLARED):
        with contextlib.suppress(QueryFailed, QueryTimeout):
            engine.timed(f"OPTIMIZE TABLE {JSONBENCH} FINAL", lab.config.load_timeout)
    settle(lab, DATA, system)


def _more(lab: Lab) -> list[Question]:
    """The other questions that the server can answer."""
    return [one for one in MORE if lab.cluster.server.major >= one.since]


def _note(lab: Lab) -> None:
    """Statements for the report."""
    file = Path(_file(lab).name)
    for system in lab.systems:
        engine = lab.engine(DATA, system)
        texts = [creation(system), *system.prepare_sql(DATA), *loading(system, file)]
        indexes = DATA.indexes.get(system.indexes, ())
        texts += [index.create(JSONBENCH) for index in indexes]
        if system.name in (HEAP, DUCKDB, CLICKHOUSE, DECLARED):
            texts += [f"-- {q.query.name}\n{engine.text(q.query)}" for q in queries()]
        if system.name == HEAP:
            texts += [f"-- {one.name}\n{one.sql}" for one in _more(lab)]
        lab.results.texts.append((f"{JSONBENCH}: {system.name}", ";\n".join(texts)))


def load(lab: Lab) -> None:
    """Load the file, the systems taking turns; indexes, order, sizes, and every row
    compared."""
    names = [system.name for system in lab.systems]
    others = [name for name in lab.results.systems if name not in names]
    lab.results.systems = [*names, *others]
    lab.results.meta["chdb"] = clickhouse.version() or "not installed"
    if not clickhouse.version() and CLICKHOUSE in (lab.config.systems or USUAL):
        say("ClickHouse is left out: chdb is not installed")
    rows = bluesky.write(_file(lab), lab.config.rows, lab.config.jsonbench)
    progress(f"{JSONBENCH}: {rows:,} documents written")
    for system in lab.postgres:
        lab.create_database(DATA, system)
    cells = {
        name: lab.results.add(Cell(JSONBENCH, "load", "load", name, "s"))
        for name in names
    }
    for number in range(lab.config.load_runs):
        for system in turns(number, lab.systems):
            cell = cells[system.name]
            _load_once(lab, system, cell)
            progress(
                f"{JSONBENCH}: load: {system.name}",
                cell.note or f"{cell.samples[-1]:.2f} s",
            )
    for system in lab.systems:
        _arrange(lab, system)
    sizes(lab, DATA)
    check_rows(lab, DATA, JSONBENCH, "load", "all rows read")
    _note(lab)


def _warm(lab: Lab) -> None:
    for system in lab.postgres:
        prewarm(lab.engine(DATA, system), JSONBENCH)


def _ask(lab: Lab, one: Question) -> None:
    """A question to jsonb, where the server can answer it."""
    if one in _more(lab):
        some = [system for system in lab.postgres if system.name != INDEXED]
        asked.hot(lab, DATA, one.checked, MORE_JSON, systems=some)


def _discard(lab: Lab) -> None:
    lab.discard(DATA)
    _file(lab).unlink(missing_ok=True)
    for path in lab.scratch.glob(f"{JSONBENCH}.{CLICKHOUSE}*"):
        shutil.rmtree(path)


def steps(
    config: Config, make: Callable[[str, Callable[[Lab], None]], object]
) -> Iterator[object]:
    """The run's steps; `make` makes one of its name and function."""
    yield make(f"{JSONBENCH}-load", load)
    for one in queries():
        yield make(
            f"{JSONBENCH}-cold-{one.query.name}",
            lambda lab, one=one: asked.cold(lab, DATA, one),
        )
    yield make(f"{JSONBENCH}-warm", _warm)
    for one in queries():
        yield make(
            f"{JSONBENCH}-hot-{one.query.name}",
            lambda lab, one=one: asked.hot(lab, DATA, one, HOT),
        )
    for one in MORE:
        name = one.name.replace(": ", " ").replace(" ", "-")
        yield make(
            f"{JSONBENCH}-other-{name}",
            lambda lab, one=one: _ask(lab, one),
        )
    yield make(f"{JSONBENCH}-discard", _discard)
