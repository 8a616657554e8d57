"""The events data: 17 columns of a made-up click log, and its queries.

Row g (1..N) depends on g alone. The random columns come from a counter-based
generator: `hashint8extended(g, stream)` is a fixed 64-bit hash of the row
number, 53 bits of which make the uniform U in [0, 1). So the rows are the
same on every server version and machine, whatever N is, and in whatever order
or chunks they are made; the streams' numbers are the fixed seed.
"""

from __future__ import annotations

from bench.dataset import Dataset, Index, Query

CHUNK = 250_000  # rows per INSERT: a progress line every few seconds


def uniform(stream: int) -> str:
    """SQL of the uniform [0, 1) float8 of row g in stream `stream`."""
    return (
        f"((hashint8extended(g, {stream}) & 9007199254740991)::float8"
        " / 9007199254740992)"
    )


def pick(values: str, index: str) -> str:
    """SQL of the element of the comma-separated list at a 0-based index."""
    return f"('{{{values}}}'::text[])[{index} + 1]"


COUNTRIES = "BR,US,DE,FR,IN,GB,JP,CN,RU,CA"
BROWSERS = "Chrome,Firefox,Safari,Edge,Opera,Samsung"
EVENTS = "click,pageview,purchase,signup,search,logout"

METADATA = f"""jsonb_build_object(
    'os', {pick("android,ios,windows,macos,linux", "g % 5")},
    'version', (12 + g % 8)::text,
    'app', {pick("mobile,web,desktop,tv", "g % 4")},
    'campaign',
    {pick("summer,black_friday,organic,referral,email", "g % 5")},
    'revenue', round(({uniform(5)} * 500)::numeric, 2),
    'ab_group', {pick("A,B,C", "g % 3")},
    'premium', g % 7 = 0)"""

# name, type in PostgreSQL, type in DuckDB, SQL of row g's value
COLUMNS = (
    ("id", "bigint", "BIGINT", "g"),
    (
        "created_at",
        "timestamptz NOT NULL",
        "TIMESTAMPTZ NOT NULL",
        "timestamptz '2024-01-01 00:00:00+00' + g * interval '30 s'",
    ),
    (
        "event_date",
        "date NOT NULL",
        "DATE NOT NULL",
        "date '2024-01-01' + (g / 2880)::int",
    ),
    ("user_id", "bigint NOT NULL", "BIGINT NOT NULL", "g % 50000 + 1"),
    ("session_id", "text NOT NULL", "VARCHAR NOT NULL", "md5(g::text)"),
    (
        "amount",
        "numeric(15,4)",
        "DECIMAL(15,4)",
        f"round(({uniform(1)} * 9999.99)::numeric, 4)",
    ),
    ("price", "float8", "DOUBLE", f"{uniform(2)} * 999.99"),
    ("quantity", "int", "INTEGER", "g % 100 + 1"),
    ("duration_ms", "int", "INTEGER", f"({uniform(3)} * 30000)::int + 50"),
    ("score", "real", "REAL", f"{uniform(4)}::real"),
    ("country_code", "char(2) NOT NULL", "VARCHAR NOT NULL", pick(COUNTRIES, "g % 10")),
    ("browser", "text NOT NULL", "VARCHAR NOT NULL", pick(BROWSERS, "g % 6")),
    ("url", "text", "VARCHAR", "'/page/' || g % 5000"),
    ("is_mobile", "bool NOT NULL", "BOOLEAN NOT NULL", "g % 3 <> 0"),
    ("event_type", "text NOT NULL", "VARCHAR NOT NULL", pick(EVENTS, "g % 6")),
    ("metadata", "jsonb", "JSON", METADATA),
    ("tags", "text[]", "VARCHAR[]", "ARRAY['tag_' || g % 20, 'cat_' || g % 8]"),
)


def row_select(first: str, last: str, step: int = 1) -> str:
    """SELECT of the events rows `first` to `last` (SQL expressions), of each
    `step` rows the first."""
    values = ",\n  ".join(f"{sql} AS {name}" for name, _, _, sql in COLUMNS)
    return (
        f"SELECT {values}\n"
        f"FROM generate_series(({first})::bigint, ({last})::bigint, {step}) AS g"
    )


def fill(connection, table: str, rows: int, progress) -> None:
    """Fill the empty heap table `table` with rows 1..`rows`."""
    for first in range(1, rows + 1, CHUNK):
        last = min(first + CHUNK - 1, rows)
        connection.execute(f"INSERT INTO {table} {row_select(str(first), str(last))}")
        progress(f"{last:,} of {rows:,} rows made")


# One row as the single-row INSERTs write it; the id comes from a sequence.
SINGLE_ROW = """nextval('single_id'), '2024-01-01 00:00:30+00', '2024-01-01',
    42, 'c4ca4238a0b923820dcc509a6f75849b', 1234.5678, 123.456789, 7, 15000,
    0.5, 'BR', 'Chrome', '/page/7', true, 'click',
    '{"os": "ios", "version": "13", "app": "web", "campaign": "referral",
      "revenue": 123.45, "ab_group": "B", "premium": false}',
    '{tag_7,cat_7}'"""

QUERIES = (
    Query("Q1", "SELECT count(*) FROM events"),
    Query(
        "Q2",
        "SELECT sum(amount), avg(amount), sum(price), avg(price) FROM events",
    ),
    Query(
        "Q3",
        "SELECT country_code, count(*), avg(score) FROM events"
        " GROUP BY country_code ORDER BY count(*) DESC",
        order_by=(1,),
        real=(2,),
    ),
    Query(
        "Q4",
        "SELECT event_type, count(*), sum(amount), avg(duration_ms),"
        " percentile_disc(0.95) WITHIN GROUP (ORDER BY duration_ms)"
        " FROM events GROUP BY event_type ORDER BY 3 DESC NULLS LAST",
        order_by=(2,),
    ),
    Query(
        "Q5",
        "SELECT event_date, count(*), sum(amount), avg(price) FROM events"
        " WHERE event_date BETWEEN '2024-01-01' AND '2024-01-31'"
        " GROUP BY event_date ORDER BY event_date",
        order_by=(0,),
    ),
    Query(
        "Q6",
        "SELECT count(*), avg(amount) FROM events"
        """ WHERE metadata @> '{"os":"android"}'""",
        duckdb="SELECT count(*), avg(amount) FROM events"
        """ WHERE json_contains(metadata, '{"os":"android"}')""",
    ),
    Query(
        "Q7",
        "SELECT metadata->>'campaign', count(*), sum(amount) FROM events"
        " WHERE metadata ? 'campaign' GROUP BY 1 ORDER BY 3 DESC",
        duckdb="SELECT metadata->>'campaign', count(*), sum(amount)"
        " FROM events WHERE json_exists(metadata, 'campaign')"
        " GROUP BY 1 ORDER BY 3 DESC",
        order_by=(2,),
    ),
    Query(
        "Q8",
        "SELECT count(*), avg(price) FROM events WHERE tags @> ARRAY['tag_5']",
    ),
    Query(
        "Q9",
        "SELECT count(*), sum(amount) FROM events WHERE url LIKE '/page/1%'",
    ),
    Query(
        "Q10",
        "SELECT browser, is_mobile, count(*), sum(amount), avg(amount),"
        " min(amount), max(amount), sum(price*quantity), avg(duration_ms),"
        " count(DISTINCT user_id),"
        " sum(CASE WHEN event_type='purchase' THEN amount END)"
        " FROM events GROUP BY browser, is_mobile ORDER BY count(*) DESC",
        order_by=(2,),
    ),
)


def _by_id(name: str, step: int, count: int) -> Query:
    return Query(
        name,
        "SELECT count(*), sum(amount), avg(duration_ms) FROM events"
        f" WHERE id IN (SELECT gs * {step}"
        f" FROM generate_series(1, {count}) AS s(gs))",
    )


def _by_user(name: str, step: int, count: int) -> Query:
    return Query(
        name,
        "SELECT count(*), sum(amount), avg(price) FROM events"
        f" WHERE user_id IN (SELECT gs * {step}"
        f" FROM generate_series(1, {count}) AS s(gs))",
    )


KEYS = (
    Query(
        "K1",
        "SELECT id, user_id, amount, event_type FROM events WHERE id = 500000",
    ),
    Query(
        "K2",
        "SELECT count(*), sum(amount) FROM events WHERE id IN (1000, 50000,"
        " 100000, 200000, 300000, 400000, 500000, 700000, 850000, 999000)",
    ),
    _by_id("K3", 10_000, 100),
    _by_id("K4", 1_000, 1_000),
    Query(
        "K5",
        "SELECT count(*), sum(amount) FROM events WHERE user_id = 25000",
    ),
    Query(
        "K6",
        "SELECT count(*), sum(amount), max(duration_ms) FROM events"
        " WHERE user_id IN (1000, 5000, 10000, 15000, 20000, 25000, 30000,"
        " 35000, 40000, 45000)",
    ),
    _by_user("K7", 500, 100),
    _by_user("K8", 50, 1_000),
    Query(
        "K9",
        "SELECT event_type, count(*), sum(amount), avg(duration_ms)"
        " FROM events GROUP BY event_type",
    ),
    Query(
        "K10",
        "SELECT country_code, count(*), sum(amount), avg(price)"
        " FROM events GROUP BY country_code",
    ),
    Query(
        "K11",
        "SELECT user_id, count(*), sum(amount) FROM events"
        " GROUP BY user_id ORDER BY 3 DESC LIMIT 20",
        order_by=(2,),
        limited=True,
    ),
    Query(
        "K12",
        "SELECT event_type, count(*), sum(amount), avg(duration_ms)"
        " FROM events WHERE event_date BETWEEN '2024-06-01' AND '2024-06-30'"
        " GROUP BY event_type",
    ),
)

# All columns of the rows that K7 and K8 count.
KEY_ROWS = tuple(
    Query(
        f"{query.name} rows",
        query.sql.replace("count(*), sum(amount), avg(price)", "*"),
        real=(9,),
    )
    for query in KEYS
    if query.name in ("K7", "K8")
)

GIN = (
    Index("gin (metadata jsonb_path_ops)"),
    Index("gin (tags)"),
)

EVENTS_DATA = Dataset(
    name="events",
    columns=tuple((name, kind) for name, kind, _, _ in COLUMNS),
    duckdb=tuple((name, kind) for name, _, kind, _ in COLUMNS),
    fill=fill,
    order="event_date",
    queries=QUERIES,
    keys=KEYS,
    key_rows=KEY_ROWS,
    indexes={
        "heap": (
            Index("(id)", primary=True),
            Index("btree (event_date)"),
            Index("btree (user_id)"),
            Index("btree (event_type)"),
            *GIN,
        ),
        "row": (Index("btree (event_date)"), Index("btree (user_id)"), *GIN),
        "column": GIN,
        "none": (),
    },
    key_indexes=(
        Index("btree (id)", unique=True),
        Index("btree (user_id)"),
    ),
    update="amount = amount + 1",
    residue="id",
    unique_key="id",
    single_row=SINGLE_ROW,
    duckdb_values={"tags": "string_split(trim(tags, '{}'), ',')"},
)
