"""Random documents come back identical, and random queries of them give heap's rows
or errors, with every optimisation on and off.

Each round makes a table of row groups of several shapes, with a delta, deleted and
updated rows, of jsonb, json and zson; then asks, changes and compacts it.  Which
errors may differ is what test_vector_queries says.

SECONDS=n makes rounds that long instead of a fixed number; SEED repeats a run.
"""

from __future__ import annotations

import os
import time

import psycopg
from psycopg.types.string import TextLoader
from strata.documents import DocumentQueries, Shape, quoted
from strata.queries import share
from test_vector_queries import compare, outcome, set_plan, show_text, switches

ROUNDS = 2
QUERIES = share(60)
ROWS = 2300
TYPES = "k int NOT NULL, d jsonb, j json, z zson"
# of all documents, and of each alone what tells it from others
DIGEST = "SELECT count(*), sum(hashtextextended(ROW(k, {})::text, 0)) FROM {}"


def set_up(conn, am: str) -> list[str]:
    conn.execute("CREATE EXTENSION zson_dict")
    show_text(conn)
    for name in ("jsonb", "json"):
        conn.adapters.register_loader(name, TextLoader)
    return switches(conn, am)


def insert(conn, shapes: list[Shape], rng, first: int, rows: int) -> None:
    """Documents of these shapes, one kind after the other or in turns, into made,
    heap and ours."""
    turns = rng.random() < 0.3
    conn.execute("CREATE TEMP TABLE IF NOT EXISTS made (k int, d text, j text)")
    conn.execute("TRUNCATE made")
    with conn.cursor().copy("COPY made FROM STDIN") as copy:
        for i in range(rows):
            shape = shapes[i % len(shapes) if turns else i * len(shapes) // rows]
            document = None if rng.random() < 0.02 else shape.text(False)
            other = document if rng.random() < 0.9 else shape.text(True)
            copy.write_row((first + i, document, other))
    conn.execute(
        "INSERT INTO heap SELECT k, d::jsonb, j::json, d::jsonb FROM made ORDER BY k"
    )
    conn.execute(f"INSERT INTO ours SELECT * FROM heap WHERE k >= {first} ORDER BY k")


def load(conn, am: str, rng) -> list[Shape]:
    shapes = [Shape(rng) for _ in range(rng.randrange(1, 6))]
    conn.execute("DROP TABLE IF EXISTS ours, heap CASCADE")
    for name, own in (("heap", "heap"), ("ours", am)):
        conn.execute(f"CREATE TABLE {name} ({TYPES}) USING {own}")
    compression = rng.choice(("lz4", "zstd", "none"))
    conn.execute(
        f"SELECT {am}.set_options('ours', row_group_rows => 1024, compression => '{compression}')"
    )
    rows = rng.choice((300, ROWS, ROWS, 2 * ROWS))
    insert(conn, shapes, rng, 1, rows)
    insert(conn, shapes, rng, rows + 1, rng.choice((1, 40)))
    if rng.random() < 0.3:
        conn.execute("CREATE INDEX ON ours (k)")
    conn.execute("ANALYZE ours, heap")
    return shapes


def change(conn, am: str, rng, queries: DocumentQueries, shapes: list[Shape]) -> str:
    """One change of both tables; returns what it was."""
    rows = f"k % {rng.choice((7, 31, 97))} = {rng.randrange(7)}"
    values = (
        f"jsonb_set(d, {queries.array(queries.path())}, {queries.constant()})",
        f"d - {quoted(queries.key())}",
        f"d || {queries.constant()}",
        queries.document(2),
        "NULL",
    )
    statement = rng.choice((
        f"UPDATE {{}} SET d = {rng.choice(values)} WHERE {rows}",
        f"UPDATE {{}} SET d = {rng.choice(values)} WHERE {rows}",
        f"UPDATE {{}} SET z = d, j = d::json WHERE {rows}",
        f"DELETE FROM {{}} WHERE {rows}",
        f"DELETE FROM {{}} WHERE {rows} AND {queries.safe_cast()} IS NOT NULL",
        f"CALL {am}.merge('ours')",
        "VACUUM ours",
        "VACUUM FULL ours",
        "insert",
    ))  # fmt: skip
    if statement == "insert":
        ((first,),) = conn.execute("SELECT max(k) + 1 FROM heap").fetchall()
        insert(conn, shapes, rng, first, rng.choice((5, 1200)))
        return statement
    if "{}" not in statement.replace("'{}'", ""):
        conn.execute(statement)
        return statement
    states = []
    for name in ("heap", "ours"):
        table = statement.replace("UPDATE {}", f"UPDATE {name}")
        table = table.replace("DELETE FROM {}", f"DELETE FROM {name}")
        try:
            states.append((conn.execute(table).rowcount, None))
        except psycopg.Error as error:
            states.append((None, error.sqlstate is not None))
    assert states[0] == states[1], f"{statement}: {states}"
    return statement


def difference(conn, column: str) -> str | None:
    """Whether this column of all rows is what heap has."""
    heap, ours = (outcome(conn, DIGEST.format(column, t)) for t in ("heap", "ours"))
    if ours == heap:
        return None
    more = (
        f"SELECT k, {column}::text FROM {one} EXCEPT SELECT k, {column}::text FROM {two} LIMIT 2"
        for one, two in (("heap", "ours"), ("ours", "heap"))
    )
    return f"{column}: {heap} and {ours}: {[str(outcome(conn, m))[:900] for m in more]}"


def has_paths(conn, condition: str) -> bool:
    """Whether ours has sub-columns whose path meets the condition."""
    ((count,),) = conn.execute(
        f"SELECT count(*) FROM colcompress.document_paths('ours') WHERE {condition}"
    )
    return count > 0


def ask(conn, am, rng, names, queries: DocumentQueries, count: int, done: list[str]):
    """Faults of so many queries."""
    for i in range(count):
        if i % 10 == 0:
            settings = set_plan(conn, rng, names)
            conn.execute("SET statement_timeout = '60s'")
        query = queries.query()
        try:
            fault = compare(conn, queries, query)
        except psycopg.Error as error:
            fault = f"{error.sqlstate} {error}"
        if fault:
            yield "\n".join([*done, *settings, query, "-- " + fault])


def test_random_documents(conn, am, rng):
    names = set_up(conn, am)
    version = conn.info.server_version // 10000
    seconds = float(os.environ.get("SECONDS", 0))
    end = time.monotonic() + seconds
    faults, rounds, asked, shredded, elements = [], 0, 0, 0, 0
    while len(faults) < 5 and (time.monotonic() < end if seconds else rounds < ROUNDS):
        rounds += 1
        shapes = load(conn, am, rng)
        if am == "colcompress":
            shredded += has_paths(conn, "path IS NOT NULL")
            elements += has_paths(conn, "kind = 'array'")
        done = [f"-- round {rounds}"]
        paths = [path for shape in shapes for path in shape.paths()]
        queries = DocumentQueries(rng, version, paths)
        for _ in range(3):
            faults += ask(conn, am, rng, names, queries, QUERIES // 3, done)
            asked += QUERIES // 3
            set_plan(conn, rng, names)
            faults += filter(None, (difference(conn, column) for column in "djz"))
            done.append(change(conn, am, rng, queries, shapes))
        conn.execute("RESET ALL")
        faults += filter(None, (difference(conn, column) for column in "djz"))
        ((findings,),) = conn.execute(f"SELECT count(*) FROM {am}.verify('ours')")
        assert findings == 0, done
    print(
        f"{am}: {rounds} rounds, {shredded} with sub-columns, {elements} of elements, "
        f"{asked} queries"
    )
    # most rounds have some, and many those of elements
    assert (shredded and elements) or am != "colcompress" or rounds < 10
    assert not faults, "\n\n".join(faults)
