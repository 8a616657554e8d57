"""What a data set and a query are; `events` and `flights` are two of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg


@dataclass(frozen=True)
class Query:
    """One query and what its result must be compared by.

    name      as the report shows it, "Q1"
    sql       PostgreSQL text; the table is found through search_path
    duckdb    DuckDB's text where it differs
    clickhouse
              ClickHouse's texts for columns whose types it finds and that are
              declared, where ClickHouse is asked
    order_by  positions of the columns the result is ordered by: their
              sequence must agree; rows that tie may come in any order
    limited   the result is cut by LIMIT: of the rows that tie with the last
              one, any may have been left out
    offset    the result begins behind an OFFSET: likewise for rows that tie
              with the first one
    real      positions of float results computed from real (4 byte) columns,
              which are compared to 1e-5 only
    """

    name: str
    sql: str
    duckdb: str | None = None
    order_by: tuple[int, ...] = ()
    limited: bool = False
    offset: bool = False
    real: tuple[int, ...] = ()
    clickhouse: tuple[str, str] = ("", "")

    @property
    def duckdb_sql(self) -> str:
        """The text DuckDB runs."""
        return self.duckdb or self.sql


@dataclass(frozen=True)
class Index:
    """An index definition: `method (expression)` of the table."""

    spec: str
    unique: bool = False
    primary: bool = False

    def create(self, table: str) -> str:
        """The statement that makes this index on `table`."""
        if self.primary:
            return f"ALTER TABLE {table} ADD PRIMARY KEY {self.spec}"
        unique = "UNIQUE " if self.unique else ""
        return f"CREATE {unique}INDEX ON {table} USING {self.spec}"


@dataclass(frozen=True)
class Dataset:
    """A table, how its rows come about, and the queries asked of it.

    name           also the table's name
    columns        (name, type) of each column, in order
    duckdb         the same in DuckDB's types
    fill           function (connection, table, rows, progress) that fills an
                   empty heap table with the rows; what it makes is the same
                   in every run
    order          column the rows come ordered by; empty: none
    queries        the analytical queries
    keys           the queries asked without and with `key_indexes`
    key_rows       queries of whole rows, asked with `key_indexes` only
    indexes        index sets by the name systems use for them; a set that is
                   not named here is empty
    key_indexes    what a table gets for the second round of `keys`
    update         SET list of the UPDATE that is measured
    residue        integer expression that spreads evenly over its residues
                   modulo 100: which rows UPDATE and DELETE of 1 % take
    unique_key     column with the values 1 to the number of rows that is
                   unique by `key_indexes`; empty: there is none
    single_row     VALUES list of one row, with nextval('single_id') where
                   rows must differ; empty: no single-row INSERTs measured
    duckdb_values  DuckDB expressions of columns whose CSV text is not
                   already DuckDB's own
    """

    name: str
    columns: tuple[tuple[str, str], ...]
    duckdb: tuple[tuple[str, str], ...]
    fill: Callable[[psycopg.Connection, str, int, Callable], None]
    order: str = ""
    queries: tuple[Query, ...] = ()
    keys: tuple[Query, ...] = ()
    indexes: dict[str, tuple[Index, ...]] = field(default_factory=dict)
    key_indexes: tuple[Index, ...] = ()
    update: str = ""
    residue: str = ""
    unique_key: str = ""
    key_rows: tuple[Query, ...] = ()
    single_row: str = ""
    duckdb_values: dict[str, str] = field(default_factory=dict)

    @property
    def ddl(self) -> str:
        """Column definitions as CREATE TABLE wants them."""
        return ", ".join(f"{name} {kind}" for name, kind in self.columns)

    @property
    def duckdb_ddl(self) -> str:
        """The same for DuckDB's CREATE TABLE."""
        return ", ".join(f"{name} {kind}" for name, kind in self.duckdb)

    def duckdb_load(self, csv: str) -> str:
        """DuckDB's statement that loads the CSV file PostgreSQL wrote."""
        kinds = ", ".join(
            f"'{name}': "
            + repr(
                "VARCHAR"
                if name in self.duckdb_values
                else kind.removesuffix(" NOT NULL")
            )
            for name, kind in self.duckdb
        )
        values = ", ".join(
            self.duckdb_values.get(name, name) for name, _ in self.duckdb
        )
        return (
            f"INSERT INTO {self.name} SELECT {values}"
            f" FROM read_csv('{csv}', header = false, nullstr = '',"
            f" allow_quoted_nulls = false, columns = {{{kinds}}})"
            + (f" ORDER BY {self.order}" if self.order else "")
        )
