"""The storage systems that can be measured, as descriptions.

A system of PostgreSQL is an access method with the extension that brings it,
the index set that suits it and the statements its tables need before the
load. Each lives in a database of its own, so that extensions whose names
collide can be compared in one run. Any table access method that is installed
can be named on the command line; one that is not listed here is taken for a
store without indexes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.dataset import Dataset

HEAP = "heap"
DUCKDB = "duckdb"

# Of jsonbench alone: ClickHouse, and variants of systems (bench/jsonbench.py).
CLICKHOUSE = "clickhouse"
DECLARED = "clickhouse_declared"
INDEXED = "heap_indexed"
SORTED = "colcompress_sorted"


@dataclass(frozen=True)
class System:
    """A system under test.

    name       as the command line and the report call it
    am         table access method; None: not PostgreSQL
    extension  that provides the access method; None: built in
    indexes    name of the data sets' index set it gets
    prepare    SQL run on the new, empty table; `{table}` and `{order}` are
               the table and the column its rows come ordered by
    ours       part of this project: an error of it fails the run, and its
               key queries are measured with and without key indexes
    usual      measured where no system is named
    preload    needs to be in shared_preload_libraries
    parts      query of the size by column, `{table}` as above; its result is
               a column name, an encoding, bytes
    groups     query of the number of row groups, `{table}` as above
    compact    statement that compacts `{table}` to the end
    """

    name: str
    am: str | None
    extension: str | None = None
    indexes: str = "none"
    prepare: tuple[str, ...] = ()
    ours: bool = False
    usual: bool = False
    preload: bool = False
    parts: str | None = None
    groups: str | None = None
    compact: str | None = None

    @property
    def postgres(self) -> bool:
        """Is it a table access method of PostgreSQL?"""
        return self.am is not None

    def prepare_sql(self, dataset: Dataset, table: str = "") -> list[str]:
        """The statements of `prepare` for a table; by default the data set's."""
        order = dataset.order.replace("'", "''")
        return [
            sql.format(table=table or dataset.name, order=order) for sql in self.prepare
        ]


_KNOWN = (
    System(HEAP, am="heap", indexes="heap", usual=True),
    System(
        "colcompress",
        am="colcompress",
        extension="colcompress",
        indexes="column",
        prepare=("SELECT colcompress.set_options('{table}', orderby => '{order}')",),
        ours=True,
        usual=True,
        parts="SELECT column_name, string_agg(DISTINCT encoding"
        " || coalesce(' + ' || nullif(codec, 'none'), ''), ', '),"
        " sum(encoded_bytes)"
        " FROM colcompress.column_chunks('{table}') GROUP BY 1 ORDER BY 3 DESC",
        groups="SELECT count(*) FROM colcompress.row_groups('{table}')",
        compact="CALL colcompress.merge('{table}')",
    ),
    System(
        "rowcompress",
        am="rowcompress",
        extension="rowcompress",
        indexes="row",
        ours=True,
        usual=True,
        parts="SELECT column_name, string_agg(DISTINCT encoding"
        " || coalesce(' + ' || nullif(codec, 'none'), ''), ', '),"
        " sum(stored_bytes)"
        " FROM rowcompress.column_chunks('{table}') GROUP BY 1 ORDER BY 3 DESC",
        groups="SELECT count(*) FROM rowcompress.row_groups('{table}')",
        compact="CALL rowcompress.merge('{table}')",
    ),
    System(
        "rowcompress_lz4",
        am="rowcompress",
        extension="rowcompress",
        indexes="row",
        prepare=("SELECT rowcompress.set_options('{table}', compression => 'lz4')",),
        ours=True,
        compact="CALL rowcompress.merge('{table}')",
    ),
    System(
        "sorted_heap",
        am="sorted_heap",
        extension="sorted_heap",
        indexes="heap",
        ours=True,
        usual=True,
    ),
    System(DUCKDB, am=None, usual=True),
    System(CLICKHOUSE, am=None),
    System("citus_columnar", am="columnar", extension="citus_columnar"),
    System(
        "storage_engine",
        am="colcompress",
        extension="storage_engine",
        indexes="column",
        preload=True,
    ),
    System(
        "storage_engine_row",
        am="rowcompress",
        extension="storage_engine",
        indexes="row",
        preload=True,
    ),
)

KNOWN = {system.name: system for system in _KNOWN}


class UnknownSystem(Exception):
    """A system asked for is not installed."""


def provider(scripts: Path, am: str) -> str:
    """The extension whose script in that directory creates the access method;
    the method's own name where none does."""
    wanted = re.compile(rf'CREATE\s+ACCESS\s+METHOD\s+"?{re.escape(am)}"?\s', re.I)
    for script in sorted(scripts.glob("*--*.sql")):
        if wanted.search(script.read_text(errors="replace")):
            return script.name.split("--")[0]
    return am


def choose(
    names: tuple[str, ...],
    available: Callable[[str], bool],
    provided_by: Callable[[str], str] = str,
) -> list[System]:
    """The systems to measure, heap first.

    names        systems asked for; empty means heap, DuckDB and everything of
                 this project that is installed
    available    says whether the server can create an extension
    provided_by  names the extension of an access method that is not listed here
    Raises UnknownSystem when a system asked for is not installed.
    """

    def installed(system: System) -> bool:
        return system.extension is None or available(system.extension)

    if not names:
        return [system for system in _KNOWN if system.usual and installed(system)]
    chosen = [KNOWN[HEAP]]
    for name in names:
        system = KNOWN.get(name) or System(name, am=name, extension=provided_by(name))
        if not installed(system):
            raise UnknownSystem(
                f"{name}: extension {system.extension!r} is not installed in"
                " this server"
            )
        if system not in chosen:
            chosen.append(system)
    return chosen
