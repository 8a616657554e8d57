"""Documents of 20 KB to 5 MB, fetched one at a time by their key.

Text of objects with a hash each, which compresses to about a half: made in the
table of each system, of row groups where there are any. The fetch reads the whole
document; its hash is what comes back, so that sending it is not measured.
"""

from __future__ import annotations

from bench.dataset import Dataset, Query
from bench.engines import PostgresEngine
from bench.lab import Lab
from bench.load import prewarm
from bench.progress import progress
from bench.sections import DOCUMENTS as SECTION
from bench.systems import System

TABLE = "documents"
SIZES = {"20 KB": (20_000, 200), "200 KB": (200_000, 40), "1 MB": (10**6, 8),
         "5 MB": (5 * 10**6, 4)}  # fmt: skip
ITEM = 52  # bytes of an object


def _fill(engine: PostgresEngine) -> None:
    first = 1
    for size, count in SIZES.values():
        engine.rows(
            f"INSERT INTO {TABLE} SELECT g, 'n' || g, '[' || (SELECT string_agg("
            '\'{"n":\' || lpad((i % 97)::text, 4) || \',"hash":"\''
            f" || md5((g * 1000003 + i)::text) || '\"}}', ',')"
            f" FROM generate_series(1, {size // ITEM}) AS i) || ']'"
            f" FROM generate_series({first}, {first + count - 1}) AS g"
        )
        first += count


def _make(lab: Lab, dataset: Dataset, system: System) -> None:
    engine = lab.engine(dataset, system)
    engine.rows(
        f"CREATE TABLE {TABLE} (id int NOT NULL, name text, doc text) USING {system.am}"
    )
    _fill(engine)
    engine.rows(f"CREATE UNIQUE INDEX ON {TABLE} (id)")
    if system.ours and system.compact:
        engine.rows(f"VACUUM FULL {TABLE}")
    engine.rows(f"VACUUM (ANALYZE) {TABLE}")
    prewarm(engine, TABLE)
    progress(f"{dataset.name}: documents made: {system.name}")


def fetch(lab: Lab, dataset: Dataset) -> None:
    """Make the tables, measure a fetch of each size, drop them."""
    for system in lab.keyed:
        _make(lab, dataset, system)
    engines = {s.name: lab.engine(dataset, s) for s in lab.keyed}
    first = 1
    for name, (_, count) in SIZES.items():
        sql = (
            "SELECT name, hashtextextended(doc, 0), octet_length(doc)"
            f" FROM {TABLE} WHERE id = {first + count // 2}"
        )
        first += count
        lab.measure(dataset, engines, Query(name, sql), SECTION)
    for system in lab.keyed:
        lab.engine(dataset, system).rows(f"DROP TABLE {TABLE}")
