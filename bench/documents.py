"""Documents of 20 KB to 5 MB, fetched one at a time by their key.

As text, as jsonb and as bytea: objects with a hash each, which compress to about
a half as text, and the hashes alone, which do not compress at all. Made in the
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

# What is stored of the text or of the hashes, by the column's type, and what
# reads all of it; None: the text as it is.
KINDS = {
    "text": (None, "hashtextextended(doc, 0), octet_length(doc)"),
    "jsonb": ("{text}::jsonb", "jsonb_hash_extended(doc, 0)"),
    "bytea": (
        "(SELECT decode(string_agg(md5((g * 1000003 + i)::text), ''), 'hex')"
        " FROM generate_series(1, {size} / 16) AS i)",
        "get_byte(doc, 0), get_byte(doc, octet_length(doc) - 1)",
    ),
}


def _fill(engine: PostgresEngine, kind: str) -> None:
    form = KINDS[kind][0] or "{text}"
    first = 1
    for size, count in SIZES.values():
        text = (
            "('[' || (SELECT string_agg("
            '\'{"n":\' || lpad((i % 97)::text, 4) || \',"hash":"\''
            f" || md5((g * 1000003 + i)::text) || '\"}}', ',')"
            f" FROM generate_series(1, {size // ITEM}) AS i) || ']')"
        )
        engine.rows(
            f"INSERT INTO {TABLE} SELECT g, 'n' || g, {form.format(text=text, size=size)}"
            f" FROM generate_series({first}, {first + count - 1}) AS g"
        )
        first += count


def _make(lab: Lab, dataset: Dataset, system: System, kind: str) -> None:
    engine = lab.engine(dataset, system)
    engine.rows(
        f"CREATE TABLE {TABLE} (id int NOT NULL, name text, doc {kind})"
        f" USING {system.am}"
    )
    if "{order}" not in "".join(system.prepare):
        for statement in system.prepare_sql(dataset, TABLE):
            engine.rows(statement)
    _fill(engine, kind)
    engine.rows(f"CREATE UNIQUE INDEX ON {TABLE} (id)")
    if system.ours and system.compact:
        engine.rows(f"VACUUM FULL {TABLE}")
    engine.rows(f"VACUUM (ANALYZE) {TABLE}")
    prewarm(engine, TABLE)
    progress(f"{dataset.name}: documents of {kind} made: {system.name}")


def fetch(lab: Lab, dataset: Dataset) -> None:
    """Make the tables, measure a fetch of each size, drop them; for each type."""
    engines = {s.name: lab.engine(dataset, s) for s in lab.keyed}
    for kind, (_, read) in KINDS.items():
        for system in lab.keyed:
            _make(lab, dataset, system, kind)
        first = 1
        for size, (_, count) in SIZES.items():
            sql = f"SELECT name, {read} FROM {TABLE} WHERE id = {first + count // 2}"
            first += count
            lab.measure(dataset, engines, Query(f"{kind}, {size}", sql), SECTION)
        for system in lab.keyed:
            lab.engine(dataset, system).rows(f"DROP TABLE {TABLE}")
