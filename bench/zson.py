"""zson against jsonb: bytes per document, table size, INSERT rate, access to one key.

    python3 -m bench.zson "host=/tmp dbname=bench" [kind ...]

Environment: ZSON_ROWS documents per kind (20000; of most kinds a share of it), ZSON_DATA
directory of consul.json, github_like.py and mdn.json (../shared/data; kinds whose file is not
there are left out), ZSON_RUNS measured rounds (5), ZSON_POINTS reads by id per round (500).  Dictionaries are learned from one
seed and measured on another.  Rounds of the systems take turns; figures are medians.  Works in a
schema of its own, zson_bench, which it drops first and at the end.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.report import terminal
from bench.results import Cell, Results
from bench.sections import BYTES, EXCESS, JSONB, MEMORY, OF_LIMIT, ZSON
from bench.sections import JSONB_LZ4 as LZ4

ROWS = int(os.environ.get("ZSON_ROWS", "20000"))
RUNS = int(os.environ.get("ZSON_RUNS", "5"))
POINTS = int(os.environ.get("ZSON_POINTS", "500"))
DATA = Path(os.environ.get("ZSON_DATA", "../shared/data"))


def words(rng: random.Random, n: int) -> str:
    vocabulary = VOCABULARY
    return " ".join(rng.choice(vocabulary) for _ in range(n))


VOCABULARY = [
    "".join(random.Random(i).choice("aeioulnrst") for _ in range(3 + i % 7))
    for i in range(800)
]


def distinct(size: int) -> Callable[[int, int], Iterator[dict]]:
    """Documents of about that many bytes; half of the leaf bytes are theirs alone."""

    def generate(n: int, seed: int) -> Iterator[dict]:
        rng = random.Random(seed)
        for i in range(n):
            document = {
                "id": rng.getrandbits(40),
                "kind": rng.choice(["order", "invoice", "refund", "note"]),
                "state": rng.choice(["open", "closed", "waiting"]),
            }
            if size >= 300:
                document |= {
                    "customer": {
                        "name": words(rng, 2),
                        "ref": f"{rng.getrandbits(64):016x}",
                    },
                    "amount": rng.randrange(10**6) / 100,
                    "created_at": f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}T{i % 24:02d}:00:00Z",
                    "token": f"{rng.getrandbits(160):040x}",
                }
            lines = []
            while (
                len(json.dumps(document)) + sum(map(len, lines)) < size - 60
                and size >= 1000
            ):
                lines.append(
                    json.dumps(
                        {
                            "sku": f"{rng.getrandbits(48):012x}",
                            "text": words(rng, 6),
                            "count": rng.randrange(100),
                            "key": f"{rng.getrandbits(96):024x}",
                        }
                    )
                )
            if lines:
                document["lines"] = [json.loads(line) for line in lines]
            document["zone"] = rng.choice(["north", "south", "east", "west"])
            yield document

    return generate


def metadata(n: int, seed: int) -> Iterator[dict]:
    rng = random.Random(seed)
    for g in range(n):
        yield {
            "os": ["android", "ios", "windows", "macos", "linux"][g % 5],
            "version": 120 + g % 8,
            "app": ["mobile", "web", "desktop", "tv"][g % 4],
            "campaign": ["summer", "black_friday", "organic", "referral", "email"][
                g % 5
            ],
            "revenue": rng.randrange(50000) / 100,
            "ab_group": "ABC"[g % 3],
            "premium": g % 7 == 0,
        }


def tiny(n: int, seed: int) -> Iterator[dict]:
    """Documents of 10 to 60 bytes, of few keys and of random ones, of random values."""
    rng = random.Random(seed)
    for i in range(n):
        room = 10 + i % 51
        document: dict = {}
        while len(json.dumps(document)) < room:
            key = rng.choice(
                ["id", "n", "kind", words(rng, 1), f"{rng.getrandbits(20):x}"]
            )
            document[key] = rng.choice(
                [
                    True,
                    None,
                    rng.randrange(100),
                    rng.random(),
                    f"{rng.getrandbits(32):x}",
                    words(rng, 1),
                    [],
                ]
            )
            if len(json.dumps(document)) > 60:
                document = {"n": i}
        yield document


def github(n: int, seed: int) -> Iterator[dict]:
    spec = importlib.util.spec_from_file_location(
        "github_like", DATA / "github_like.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.gen(n, seed)


def consul(n: int, seed: int) -> Iterator[dict]:
    document = json.loads((DATA / "consul.json").read_text(), parse_float=str)
    return (document for _ in range(n))


def varied(n: int, seed: int) -> Iterator[str]:
    """The Consul document with other addresses, names and numbers in each."""
    rng = random.Random(seed)
    document = (DATA / "consul.json").read_text()
    for _ in range(n):
        text = document.replace(
            "10.0.3.245", f"10.0.{rng.randrange(8)}.{rng.randrange(250)}"
        )
        yield text.replace("postgresql-master", f"node-{rng.randrange(1000)}")


def mdn(n: int, seed: int) -> Iterator[dict]:
    """Features of data.json of the npm package @mdn/browser-compat-data, as mdn.json; odd
    ones for one seed, even ones for the other, again from the start if there are too few."""
    found: list[dict] = []

    def walk(node: dict) -> None:
        for key, value in node.items():
            if key == "__compat":
                found.append(value)
            elif isinstance(value, dict):
                walk(value)

    walk(json.loads((DATA / "mdn.json").read_text()))
    part = found[seed % 4 // 2 :: 2]
    return (part[i % len(part)] for i in range(n))


# kind: documents, keys of the access test (first, last), containment, share of the rows
KINDS = {
    "consul": (consul, ("Config", "Member"), {"Coord": {"Height": 0}}, 1.0),
    "consul varied": (consul, ("Config", "Member"), {"Coord": {"Height": 0}}, 0.25),
    "metadata": (metadata, ("os", "campaign"), {"os": "ios"}, 2.0),
    "github": (github, ("id", "created_at"), {"type": "PushEvent"}, 0.25),
    "mdn": (mdn, ("status", "support"), {"status": {"deprecated": True}}, 0.25),
    "10 to 60 B": (tiny, ("id", "n"), {"n": 5}, 1.0),
    "100 B": (distinct(100), ("id", "state"), {"kind": "order"}, 2.0),
    "300 B": (distinct(300), ("id", "created_at"), {"kind": "order"}, 1.0),
    "1 KB": (distinct(1000), ("id", "created_at"), {"kind": "order"}, 0.25),
    "4 KB": (distinct(4000), ("id", "created_at"), {"kind": "order"}, 0.1),
    "50 KB": (distinct(50000), ("id", "created_at"), {"kind": "order"}, 0.01),
}

FEW = ("metadata", "1 KB")  # kinds of the benchmark's summary
PLAIN = "jsonb plain"
LIMIT = "zstd limit"
SYSTEMS = {JSONB: "jsonb", PLAIN: "jsonb", LZ4: "jsonb", ZSON: "zson"}


def texts(kind: str, n: int, seed: int) -> list[str]:
    if kind == "consul":
        return [(DATA / "consul.json").read_text()] * n
    if kind == "consul varied":
        return list(varied(n, seed))
    return [json.dumps(d, ensure_ascii=False) for d in KINDS[kind][0](n, seed)]


def limit(train: list[str], measure: list[str]) -> float | None:
    """Bytes per document of zstd with a dictionary, or None without the package."""
    try:
        import zstandard
    except ImportError:
        return None
    dictionary = zstandard.train_dictionary(112640, [t.encode() for t in train])
    codec = zstandard.ZstdCompressor(level=3, dict_data=dictionary)
    return statistics.mean(len(codec.compress(t.encode())) for t in measure)


def copy(conn, table: str, rows: list[str]) -> float:
    start = time.perf_counter()
    with conn.cursor() as cur, cur.copy(f"COPY {table} (doc) FROM STDIN") as out:
        for row in rows:
            out.write_row((row,))
    return time.perf_counter() - start


def rounds(conn, tables: dict[str, str], query: str) -> dict[str, list[float]]:
    """Milliseconds of a query over each table, round by round, taking turns."""
    times: dict[str, list[float]] = {name: [] for name in tables}
    for i in range(RUNS + 1):
        for name, table in tables.items():
            start = time.perf_counter()
            conn.execute(query.replace("{t}", table)).fetchall()
            if i > 0:
                times[name].append(1000 * (time.perf_counter() - start))
    return times


def point_reads(conn, tables: dict[str, str], query: str) -> dict[str, list[float]]:
    """Reads per second of documents by random id, prepared, over one connection."""
    rates: dict[str, list[float]] = {name: [] for name in tables}
    for _ in range(RUNS):
        for name, table in tables.items():
            rng = random.Random(5)
            (n,) = conn.execute(f"SELECT max(id) FROM {table}").fetchone()
            sql = query.replace("{t}", table)
            start = time.perf_counter()
            for _ in range(POINTS):
                conn.execute(sql, (rng.randint(1, n),), prepare=True)
            rates[name].append(POINTS / (time.perf_counter() - start))
    return rates


def fill(conn, kind: str, n: int, results: Results) -> dict[str, str]:
    """Learn from one seed, load another one's documents, compare, measure sizes."""
    dataset = f"zson {kind}"
    train, measured = texts(kind, min(n, 20000), 7), texts(kind, n, 11)
    conn.execute("DROP TABLE IF EXISTS examples")
    conn.execute("CREATE TABLE examples (doc jsonb)")
    copy(conn, "examples", train)
    conn.execute("ANALYZE examples")
    start = time.perf_counter()
    conn.execute("SELECT zson_train('examples', 'doc')")
    training = time.perf_counter() - start
    tables = {name: f"t_{name.replace(' ', '_')}" for name in SYSTEMS}
    rates: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    for turn in range(2):
        for name, column_type in SYSTEMS.items():
            table = tables[name]
            conn.execute(f"DROP TABLE IF EXISTS {table}")
            conn.execute(
                f"CREATE TABLE {table} (id serial PRIMARY KEY, doc {column_type})"
            )
            if name == LZ4:
                conn.execute(f"ALTER TABLE {table} ALTER doc SET COMPRESSION lz4")
            elif name == PLAIN:
                conn.execute(f"ALTER TABLE {table} ALTER doc SET STORAGE external")
            rates[name].append(n / copy(conn, table, measured))
            if turn:
                conn.execute(f"VACUUM (ANALYZE) {table}")
    differ = (
        f"SELECT count(*) FROM {tables[ZSON]} z JOIN {tables[JSONB]} j USING (id)"
        " WHERE z.doc::text <> j.doc::text"
    )
    if conn.execute(differ).fetchone() != (0,):
        raise AssertionError(f"{kind}: documents differ from jsonb's")
    means = {}
    for name, table in tables.items():
        mean, size = conn.execute(
            f"SELECT avg(pg_column_size(doc))::float8, pg_table_size('{table}') FROM {table}"
        ).fetchone()
        means[name] = mean
        results.add(Cell(dataset, "documents", BYTES, name, "bytes", [mean]))
        results.add(Cell(dataset, "size", "table", name, "MB", [size / 1e6]))
        results.add(Cell(dataset, "documents", "COPY", name, "rows/s", rates[name]))
    ((excess,),) = conn.execute(
        f"SELECT max(pg_column_size(z.doc) - pg_column_size(j.doc)) FROM {tables[ZSON]} z"
        f" JOIN {tables[PLAIN]} j USING (id)"
    ).fetchall()
    results.add(Cell(dataset, "documents", EXCESS, ZSON, "bytes", [excess]))
    best = limit(train, measured)
    if best is not None:
        results.add(Cell(dataset, "documents", BYTES, LIMIT, "bytes", [best]))
        of_limit = means[ZSON] / best
        results.add(Cell(dataset, "documents", OF_LIMIT, ZSON, "times", [of_limit]))
    results.add(Cell(dataset, "documents", "training", ZSON, "s", [training]))
    return tables


def bench(conn, kind: str, results: Results, rows: int = 0) -> None:
    """One kind of documents: everything, into cells of the results."""
    dataset = f"zson {kind}"
    n = max(200, int((rows or ROWS) * KINDS[kind][3]))
    tables = fill(conn, kind, n, results)
    first, last = KINDS[kind][1]
    contained = json.dumps(KINDS[kind][2])
    queries = {
        "-> first": f"SELECT count(doc -> '{first}') FROM {{t}}",
        "-> last": f"SELECT count(doc -> '{last}') FROM {{t}}",
        "->> last": f"SELECT count(doc ->> '{last}') FROM {{t}}",
        "-> absent": "SELECT count(doc -> 'no such key') FROM {t}",
        "@>": f"SELECT count(*) FROM {{t}} WHERE doc @> '{contained}'",
        "whole": "SELECT sum(length(doc::text)) FROM {t}",
    }

    def measure(label: str, query: str) -> None:
        for name, samples in rounds(conn, tables, query).items():
            results.add(Cell(dataset, "access", label, name, "ms", samples))

    for label, query in queries.items():
        measure(label, query)
    for name, table in tables.items():
        start = time.perf_counter()
        conn.execute(f"CREATE INDEX ON {table} USING gin (doc)")
        spent = time.perf_counter() - start
        conn.execute(f"ANALYZE {table}")
        results.add(Cell(dataset, "documents", "GIN build", name, "s", [spent]))
        (size,) = conn.execute(
            f"SELECT pg_indexes_size('{table}') + pg_table_size('{table}')"
        ).fetchone()
        label = "table, TOAST, indexes"
        results.add(Cell(dataset, "size", label, name, "MB", [size / 1e6]))
    conn.execute("SET enable_seqscan = off")
    measure("@> by GIN", queries["@>"])
    conn.execute("RESET enable_seqscan")
    read = f"SELECT doc -> '{last}' FROM {{t}} WHERE id = %s"
    for name, samples in point_reads(conn, tables, read).items():
        results.add(
            Cell(dataset, "documents", "-> by random id", name, "reads/s", samples)
        )
    (memory,) = conn.execute("SELECT zson_cache_bytes()").fetchone()
    results.add(Cell(dataset, "documents", MEMORY, ZSON, "bytes", [memory]))
    for table in tables.values():
        conn.execute(f"DROP TABLE {table}")


@contextmanager
def session(dsn: str) -> Iterator[psycopg.Connection]:
    """A connection to work in a schema of its own, which goes at the end."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DROP SCHEMA IF EXISTS zson_bench CASCADE")
        conn.execute("CREATE SCHEMA zson_bench")
        conn.execute("CREATE EXTENSION IF NOT EXISTS zson_dict SCHEMA public")
        conn.execute("SET search_path = zson_bench, public")
        conn.execute("SET max_parallel_workers_per_gather = 0")
        conn.execute("SET jit = off")
        try:
            yield conn
        finally:
            conn.execute("DROP SCHEMA IF EXISTS zson_bench CASCADE")


def available() -> list[str]:
    """Kinds whose data is there."""
    needs = {
        "consul": "consul.json",
        "consul varied": "consul.json",
        "github": "github_like.py",
        "mdn": "mdn.json",
    }
    return [
        kind for kind in KINDS if kind not in needs or (DATA / needs[kind]).exists()
    ]


def main(dsn: str, kinds: list[str]) -> None:
    """Measure the kinds, all by default, and print a table of each."""
    with session(dsn) as conn:
        for kind in kinds or available():
            results = Results(systems=[*SYSTEMS, LIMIT])
            bench(conn, kind, results)
            print(terminal(results), "\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
