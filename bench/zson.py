"""zson against jsonb: bytes per document, table size, INSERT rate, access to one key.

    python3 -m bench.zson "host=/tmp dbname=bench" [kind ...]

Environment: ZSON_ROWS documents per kind (20000), ZSON_DATA directory of consul.json and
github_like.py (../shared/data), ZSON_RUNS measured rounds (5).  Dictionaries are learned from one
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
from pathlib import Path

import psycopg

ROWS = int(os.environ.get("ZSON_ROWS", "20000"))
RUNS = int(os.environ.get("ZSON_RUNS", "5"))
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


# kind: documents, keys of the access test (first, last), containment, share of the rows
KINDS = {
    "consul": (consul, ("Config", "Member"), {"Coord": {"Height": 0}}, 1.0),
    "metadata": (metadata, ("os", "campaign"), {"os": "ios"}, 5.0),
    "github": (github, ("id", "created_at"), {"type": "PushEvent"}, 0.5),
    "100 B": (distinct(100), ("id", "state"), {"kind": "order"}, 2.0),
    "300 B": (distinct(300), ("id", "created_at"), {"kind": "order"}, 1.0),
    "1 KB": (distinct(1000), ("id", "created_at"), {"kind": "order"}, 1.0),
    "4 KB": (distinct(4000), ("id", "created_at"), {"kind": "order"}, 0.5),
    "50 KB": (distinct(50000), ("id", "created_at"), {"kind": "order"}, 0.05),
}

SYSTEMS = {"pglz": "jsonb", "lz4": "jsonb", "zson": "zson"}


def texts(kind: str, n: int, seed: int) -> list[str]:
    if kind == "consul":
        return [(DATA / "consul.json").read_text()] * n
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


def rounds(conn, tables: dict[str, str], query: str) -> dict[str, float]:
    """Median milliseconds of a query over each table, taking turns."""
    times: dict[str, list[float]] = {name: [] for name in tables}
    for i in range(RUNS + 1):
        for name, table in tables.items():
            start = time.perf_counter()
            conn.execute(query.replace("{t}", table)).fetchall()
            if i > 0:
                times[name].append(1000 * (time.perf_counter() - start))
    return {name: statistics.median(t) for name, t in times.items()}


def bench(conn, kind: str) -> list[tuple[str, ...]]:
    n = max(200, int(ROWS * KINDS[kind][3]))
    train, measure = texts(kind, min(n, 20000), 7), texts(kind, n, 11)
    conn.execute("DROP TABLE IF EXISTS examples")
    conn.execute("CREATE TABLE examples (doc jsonb)")
    copy(conn, "examples", train)
    conn.execute("ANALYZE examples")
    start = time.perf_counter()
    conn.execute("SELECT zson_train('examples', 'doc')")
    training = time.perf_counter() - start
    tables = {}
    inserts: dict[str, list[float]] = {name: [] for name in SYSTEMS}
    for turn in range(2):
        for name, column_type in SYSTEMS.items():
            table = tables[name] = f"t_{name}"
            conn.execute(f"DROP TABLE IF EXISTS {table}")
            conn.execute(
                f"CREATE TABLE {table} (id serial PRIMARY KEY, doc {column_type})"
            )
            if name == "lz4":
                conn.execute(f"ALTER TABLE {table} ALTER doc SET COMPRESSION lz4")
            inserts[name].append(copy(conn, table, measure))
            if turn:
                conn.execute(f"VACUUM ANALYZE {table}")
    differ = "SELECT count(*) FROM t_zson z JOIN t_pglz j USING (id) WHERE z.doc::text <> j.doc::text"
    assert conn.execute(differ).fetchone() == (0,)
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
    timed = {label: rounds(conn, tables, sql) for label, sql in queries.items()}
    sizes = {}
    for name, table in tables.items():
        sizes[name] = conn.execute(
            f"SELECT avg(pg_column_size(doc))::float8, pg_table_size('{table}') FROM {table}"
        ).fetchone()
    best = limit(train, measure)
    rows = []
    for name in SYSTEMS:
        rows.append(
            (
                kind,
                name,
                f"{sizes[name][0]:.1f}",
                f"{best:.1f}" if best and name == "zson" else "",
                f"{sizes[name][1] / 2**20:.1f}",
                f"{n / min(inserts[name]):.0f}",
                *(f"{timed[label][name]:.1f}" for label in queries),
                f"{training:.1f}" if name == "zson" else "",
            )
        )
    return rows


def main(dsn: str, kinds: list[str]) -> None:
    head = "kind|system|bytes|zstd limit|table MB|COPY/s|-> first|-> last|->> last|-> absent|@>|whole|training s"
    print("| " + head.replace("|", " | ") + " |")
    print("|" + "---|" * len(head.split("|")))
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DROP SCHEMA IF EXISTS zson_bench CASCADE")
        conn.execute("CREATE SCHEMA zson_bench")
        conn.execute("CREATE EXTENSION IF NOT EXISTS zson_dict")
        conn.execute("SET search_path = zson_bench, public")
        conn.execute("SET max_parallel_workers_per_gather = 0")
        conn.execute("SET jit = off")
        try:
            for kind in kinds or KINDS:
                for row in bench(conn, kind):
                    print("| " + " | ".join(row) + " |", flush=True)
        finally:
            conn.execute("DROP SCHEMA zson_bench CASCADE")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
