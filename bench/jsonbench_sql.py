"""What is asked in the data set jsonbench.

The five questions are one text in all dialects; only how they name a value of the
document differs. The others are jsonb's alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bench.bluesky import LIKE, POST, REPOST
from bench.sections import JSONBENCH, MADE, WHOLE
from bench.sqltext import Checked, checked

# What rows are ordered by, and heap's index is on.
ORDER = (
    "(doc->>'kind'), (doc->'commit'->>'operation'), (doc->'commit'->>'collection'),"
    " (doc->>'did'), ((doc->>'time_us')::bigint)"
)

POSTGRES = {
    "kind": "doc->>'kind'",
    "operation": "doc->'commit'->>'operation'",
    "collection": "doc->'commit'->>'collection'",
    "shown": "doc->'commit'->>'collection'",
    "did": "doc->>'did'",
    "time": "timestamp 'epoch' + interval '1 microsecond' * (doc->>'time_us')::bigint",
    "hour": "extract(hour FROM to_timestamp((doc->>'time_us')::bigint / 1000000))",
    "span": "extract(epoch FROM max({time}) - min({time})) * 1000",
}


def _duckdb(path: str) -> str:
    return f"json_extract_string(doc, '$.{path}')"


DUCKDB = {
    "kind": _duckdb("kind"),
    "operation": _duckdb("commit.operation"),
    "collection": _duckdb("commit.collection"),
    "shown": _duckdb("commit.collection"),
    "did": _duckdb("did"),
    "time": f"make_timestamp(CAST({_duckdb('time_us')} AS BIGINT))",
    "hour": "extract(hour FROM {time})",
    "span": "date_diff('microseconds', min({time}), max({time})) / 1000",
}

# A declared path that a document lacks is an empty string.
DECLARED = {
    "kind": "data.kind",
    "operation": "data.commit.operation",
    "collection": "data.commit.collection",
    "shown": "nullIf({collection}, '')",
    "did": "data.did",
    "time": "fromUnixTimestamp64Micro(data.time_us)",
    "hour": "toHour({time})",
    "span": "date_diff('microsecond', min({time}), max({time})) / 1000",
}
PLAIN = DECLARED | {
    "kind": "data.kind.:String",
    "operation": "data.commit.operation.:String",
    "collection": "data.commit.collection.:String",
    "did": "data.did.:String",
    "time": "fromUnixTimestamp64Micro(data.time_us.:Int64)",
}

CREATED = "WHERE {kind} = 'commit' AND {operation} = 'create'"
POSTED = f"{CREATED} AND {{collection}} = '{POST}'"
FIVE = (
    "SELECT {shown} AS event, count(*) AS number FROM {table}"
    " GROUP BY {collection} ORDER BY number DESC",
    "SELECT {shown} AS event, count(*) AS number, count(DISTINCT {did}) AS users"
    " FROM {table} " + CREATED + " GROUP BY {collection} ORDER BY number DESC",
    "SELECT {hour} AS hour_of_day, {collection} AS event, count(*) AS number"
    " FROM {table} " + CREATED + f" AND {{collection}} IN ('{POST}', '{REPOST}', '{LIKE}')"
    " GROUP BY hour_of_day, event ORDER BY hour_of_day, event",
    "SELECT {did} AS author, min({time}) AS first_post FROM {table} " + POSTED
    + " GROUP BY author ORDER BY first_post LIMIT 3",
    "SELECT {did} AS author, {span} AS span FROM {table} " + POSTED
    + " GROUP BY author ORDER BY span DESC LIMIT 3",
)  # fmt: skip


def _text(template: str, dialect: dict[str, str]) -> str:
    """The text in a dialect; values may name other values."""
    while "{" in template:
        template = template.format(table=JSONBENCH, **dialect)
    return template


def queries() -> list[Checked]:
    """The five questions."""
    found = []
    for number, template in enumerate(FIVE, 1):
        one = checked(f"Q{number}", _text(template, POSTGRES), _text(template, DUCKDB))
        texts = (_text(template, PLAIN), _text(template, DECLARED))
        found.append(replace(one, query=replace(one.query, clickhouse=texts)))
    return found


@dataclass(frozen=True)
class Question:
    """A question to jsonb; `since` is the first server that knows its words."""

    name: str
    sql: str
    since: int = 15

    @property
    def checked(self) -> Checked:
        """As the measuring of queries takes it."""
        return checked(self.name, self.sql)


def _counted(expression: str, more: str = "") -> str:
    return (
        f"SELECT {expression} AS label, count(*) AS number FROM {JSONBENCH}{more}"
        " GROUP BY label ORDER BY number DESC"
    )


def _where(condition: str) -> str:
    return f"SELECT count(*) FROM {JSONBENCH} WHERE {condition}"


def _hashed(expression: str) -> str:
    return (
        f"SELECT sum(hashtextextended({expression}::text, 0)::numeric) FROM {JSONBENCH}"
    )


MORE = (
    Question("key exists", _where("doc->'commit'->'record' ? 'reply'")),
    Question("typeof", _counted("jsonb_typeof(doc->'commit'->'record')")),
    Question(
        f"{WHOLE}: newest",
        f"SELECT doc FROM {JSONBENCH} ORDER BY (doc->>'time_us')::bigint DESC LIMIT 10",
    ),
    Question(
        "number by path",
        "SELECT sum((doc #>> '{commit,record,embed,images,0,image,size}')::numeric)"
        f" FROM {JSONBENCH}",
    ),
    Question(f"{WHOLE}: as text", _hashed("doc")),
    Question(
        "path exists",
        _where("doc @? '$.commit.record.embed.images[*].image ? (@.size > 500000)'"),
    ),
    Question("path predicate", _where("""doc @@ '$.commit.operation == "create"'""")),
    Question(
        "elements",
        _counted(
            "lang",
            ", jsonb_array_elements_text(doc->'commit'->'record'->'langs') AS lang",
        ),
    ),
    Question("keys", _counted("key", ", jsonb_object_keys(doc) AS key")),
    Question(
        "contains",
        _where(
            f"""doc @> '{{"commit":{{"operation":"create","collection":"{POST}"}}}}'"""
        ),
    ),
    Question("json_value", _counted("json_value(doc, '$.commit.collection')"), 17),
    Question(
        "json_table",
        f"SELECT mime, count(*) AS number, sum(size) AS bytes FROM {JSONBENCH},"
        " json_table(doc, '$.commit.record.embed.images[*].image' COLUMNS"
        " (size bigint PATH '$.size', mime text PATH '$.mimeType'))"
        " GROUP BY mime ORDER BY number DESC",
        17,
    ),
    Question(
        "array length",
        _counted("jsonb_array_length(doc->'commit'->'record'->'langs')"),
    ),
    Question(
        "path first",
        _counted("jsonb_path_query_first(doc, '$.commit.record.embed.\"$type\"')"),
    ),
    Question(f"{MADE}: without commit", _hashed("(doc - 'commit')")),
    Question("each", _counted("key", ", jsonb_each(doc->'commit')")),
    Question(
        f"{MADE}: to record",
        "SELECT r.operation, count(r.collection) AS number, count(r.cid) AS cids"
        f" FROM {JSONBENCH}, jsonb_to_record(doc->'commit')"
        " AS r(operation text, collection text, cid text)"
        " GROUP BY r.operation ORDER BY number DESC",
    ),
    Question(f"{MADE}: without nulls", _hashed("jsonb_strip_nulls(doc)")),
    Question("subscripts", _counted("doc['commit']['collection']")),
    Question(f"{MADE}: without record", _hashed("(doc #- '{commit,record}')")),
    Question(
        "by hour",
        _counted("date_trunc('hour', to_timestamp((doc->>'time_us')::bigint / 1e6))"),
    ),
)
