"""The likeliest mistakes: each ends in an error with its code, in words that say what
is wrong, and where the user can act in a hint that names the next command.

Messages of the server itself (a name that does not exist, a right on a table) are not
here, but for those that a user of these extensions meets first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import psycopg
import pytest

SETUP = """
CREATE EXTENSION IF NOT EXISTS sorted_heap;
CREATE EXTENSION IF NOT EXISTS zson_dict;
CREATE TABLE plain (a int, b text);
CREATE TABLE col (a int, b text, x xml) USING colcompress;
CREATE TABLE row (a int, b text) USING rowcompress;
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE ordered (a int, b text) USING sorted_heap;
CREATE INDEX ordered_a ON ordered USING zonemap (a);
CREATE TABLE unordered (a int) USING sorted_heap;
CREATE TABLE doc (id int, j jsonb, z zson);
INSERT INTO doc VALUES (1, '{}', '{}'), (2, '{}', '{}');
CREATE TABLE empty (z zson);
CREATE VIEW seen AS SELECT 1 AS a;
CREATE FUNCTION in_a_function() RETURNS void LANGUAGE plpgsql
    AS $$ BEGIN CALL colcompress.compact('col'); END $$;
CREATE FUNCTION old_options(regclass, integer, text[]) RETURNS void LANGUAGE c
    AS '$libdir/colcompress', 'cc_set_options';
"""

# A table of another session; ELSEWHERE in a mistake is its schema.
SETUP_ELSEWHERE = "CREATE TEMP TABLE theirs (a int) USING colcompress"


@dataclass(frozen=True)
class Mistake:
    """What somebody types, and what comes of it; texts are patterns of the whole.

    hint  without one there must be none
    detail  compared where it is given
    role  stranger: neither owner nor superuser
    """

    sql: str
    code: str
    message: str
    hint: str = ""
    detail: str = ""
    role: str = ""


OPTIONS = "Valid options are: compression, level, orderby, .*"
ALONE = "CALL it on its own: without BEGIN, and not in a function."
ADOPT = r"SELECT {0}.adopt\('public.plain'\) makes it one."
CRON = "Install .*, or (run|let) .*"

MISTAKES = [
    # options
    Mistake("SELECT colcompress.set_options('col', compression => 'gzip')", "22023",
            'invalid value for option "compression": "gzip"',
            detail='Valid values are "none", "lz4", "zstd".'),
    Mistake("SELECT colcompress.set_options('col', level => 40)", "22023",
            'value 40 is out of range for option "level"',
            detail="Valid values are between 1 and 22."),
    Mistake("SELECT colcompress.set_options('col', compression => 'lz4', level => 20)",
            "22023", 'level 20 is out of range for compression "lz4"',
            'Set both options at once, or reset option "level".'),
    Mistake("SELECT colcompress.set_options('col', orderby => 'nope')", "42703",
            'column "nope" of relation "col" does not exist',
            detail='Option "orderby" names columns of the table.'),
    Mistake("SELECT colcompress.set_options('col', orderby => 'x')", "22023",
            'cannot order table "col" by column "x"',
            detail="Type xml has no default btree operator class."),
    Mistake("SELECT colcompress.set_options('col', orderby => 'a b')", "42601",
            'syntax error at or near "b"'),
    Mistake("SELECT colcompress.set_options('col', orderby => 'a LIMIT 1')", "22023",
            'invalid value for option "orderby": "a LIMIT 1"',
            detail=r"Expected a list of column \[ASC \| DESC\] .*"),
    Mistake("SELECT colcompress.set_options('col', orderby => 'a, a')", "42701",
            'column "a" appears twice in option "orderby"'),
    Mistake("SELECT colcompress.set_options('col', reset => '{levle}')", "22023",
            'unrecognized colcompress option "levle"', OPTIONS),
    Mistake("CREATE TABLE t (a int) USING colcompress WITH (colcompress.levle = 3)",
            "22023", 'unrecognized colcompress option "levle"', OPTIONS),
    Mistake("SECURITY LABEL FOR colcompress ON TABLE col IS 'level=much'", "22023",
            'invalid value for option "level": "much"'),
    Mistake("SECURITY LABEL FOR colcompress ON COLUMN col.a IS 'level=3'", "42809",
            "colcompress labels are for tables only",
            r"Use colcompress.set_options\(\) to change options of a table."),
    Mistake("SELECT colcompress.set_options('seen', level => 3)", "42809",
            '"seen" is not a table or materialized view', detail="Options of .*"),
    Mistake("SELECT rowcompress.set_options('row', batch_bytes => 5)", "22023",
            'value 5 is out of range for option "batch_bytes"',
            detail="Valid values are between 4096 and 1048576."),
    Mistake("SET colcompress.enable_prunning = off", "42602",
            'invalid configuration parameter name "colcompress.enable_prunning"',
            detail='"colcompress" is a reserved prefix.'),
    Mistake("SET colcompress.simd = 'sse'", "22023",
            'invalid value for parameter "colcompress.simd": "sse"',
            "Available values: none, avx2, avx512."),
    # the wrong table
    Mistake("CALL colcompress.compact('plain')", "42809",
            '"plain" is not a colcompress table', ADOPT.format("colcompress")),
    Mistake("SELECT * FROM rowcompress.row_groups('plain')", "42809",
            '"plain" is not a rowcompress table', ADOPT.format("rowcompress")),
    Mistake("SELECT * FROM colcompress.table_info('parted')", "42809",
            '"parted" is not a colcompress table', "Ask for its partitions one by one."),
    Mistake("SELECT colcompress.adopt('parted')", "42809", ".*parted.*",
            r"Call adopt\(\) for each of them."),
    Mistake("SELECT colcompress.adopt('seen')", "42809", ".*seen.*"),
    Mistake("SELECT colcompress.adopt('row')", "42809", ".*row.*",
            "ALTER TABLE ... SET ACCESS METHOD colcompress writes it anew."),
    Mistake("SELECT colcompress.adopt('pg_class')", "4[0-9A-Z]{4}", ".*pg_class.*"),
    Mistake("CREATE INDEX ON col USING brin (a)", "0A000",
            'BRIN indexes are not supported on table "col"',
            "The table keeps the minimum and maximum of every column by itself; .*"),
    Mistake("CALL colcompress.compact('ELSEWHERE.theirs')", "0A000",
            "cannot access temporary tables of other sessions"),
    Mistake("SELECT * FROM colcompress.row_groups('ELSEWHERE.theirs')", "0A000",
            "cannot access temporary tables of other sessions"),
    Mistake("ALTER TABLE col SET (toast_tuple_target = 64)", "22023",
            'value 64 out of bounds for option "toast_tuple_target"',
            detail='Valid values are between "128" and "8160".'),
    # library and SQL of different versions
    Mistake("CREATE FUNCTION newer() RETURNS void LANGUAGE c"
            " AS '$libdir/colcompress', 'cc_newer'", "42883",
            'could not find function "cc_newer" in file ".*colcompress.*"'),
    Mistake("SELECT old_options('col', 7, NULL)", "42P13",
            'function "old_options" lacks names of arguments',
            "Run ALTER EXTENSION colcompress UPDATE."),
    # transaction blocks
    Mistake("BEGIN; CALL colcompress.compact('col')", "25001",
            "compact cannot run inside a transaction block", ALONE),
    Mistake("BEGIN; CALL rowcompress.merge('row')", "25001",
            "merge cannot run inside a transaction block", ALONE),
    Mistake("SELECT in_a_function()", "25001",
            "compact cannot run inside a transaction block", ALONE),
    Mistake("BEGIN; CALL sorted_heap.compact('ordered')", "2D000",
            "compaction cannot run inside a transaction block, or in a function",
            "It commits each step: CALL it on its own."),
    # rights
    Mistake("SELECT colcompress.set_options('col', level => 3)", "42501",
            "must be owner of table col", role="stranger"),
    Mistake("CALL colcompress.compact('col')", "42501",
            "must be owner of table col", role="stranger"),
    Mistake("SELECT * FROM colcompress.row_groups('col')", "42501",
            "permission denied for table col", role="stranger"),
    Mistake("SELECT colcompress.adopt('plain')", "42501",
            "must be owner of table plain", role="stranger"),
    Mistake("SELECT zson_train('doc', 'z')", "42501",
            "must be owner of table doc", role="stranger"),
    # no pg_cron
    Mistake("SELECT colcompress.schedule('col', '0 3 * * *')", "42704",
            "pg_cron is not installed in this database", CRON),
    Mistake("SELECT sorted_heap.schedule('ordered', '0 3 * * *')", "42704",
            "scheduling needs the extension pg_cron in this database", CRON),
    Mistake("SELECT zson_schedule('doc', 'z', '0 3 * * *')", "42704",
            "pg_cron is not installed in this database", CRON),
    # zonemap and sorted_heap
    Mistake("CREATE INDEX ON col USING zonemap (a)", "0A000",
            'access method "zonemap" does not support table "col"',
            "Use a btree index, or a table of access method heap or sorted_heap."),
    Mistake("CREATE INDEX ON plain USING zonemap ((a + 1))", "0A000",
            'access method "zonemap" does not support indexes on expressions',
            "Use a btree index, or add a generated column."),
    Mistake("CREATE INDEX ON plain USING zonemap (a) WHERE a > 3", "0A000",
            'access method "zonemap" does not support partial indexes',
            "Use a btree index, or add a generated column."),
    Mistake("CALL sorted_heap.compact('unordered')", "55000",
            'table "unordered" has no zonemap index',
            "Create one: its key is the order of the table."),
    Mistake("CALL sorted_heap.merge('ordered', 0)", "22023",
            "step_rows must be between 1 and 1000000"),
    Mistake("SELECT * FROM sorted_heap.zonemap_stats('plain')", "42809",
            '"plain" is not an index'),
    Mistake("ALTER TABLE ordered ADD PRIMARY KEY USING INDEX ordered_a", "42809",
            '"ordered_a" is not a unique index', detail="Cannot create .*"),
    # zson
    Mistake("SELECT * FROM zson_train('empty', 'z')", "P0002",
            "not enough documents to learn from",
            detail="Found 0, at least 2 are needed."),
    Mistake("SELECT * FROM zson_train('doc', 'nope')", "42703",
            'column "nope" of relation "doc" does not exist'),
    Mistake("SELECT * FROM zson_stats('doc', 'j')", "42804",
            'column "j" of relation "doc" is of type jsonb, not zson',
            "ALTER TABLE public.doc ALTER j TYPE zson converts a column of type jsonb."),
    Mistake("CALL zson_recompress('doc', 'nope')", "42703",
            'column "nope" of relation "doc" does not exist'),
    Mistake("SELECT zson_learn('{doc,z}')", "2202E",
            "tables and columns must be an array of pairs",
            """Write '{{"table", "column"}}'."""),
    Mistake("SELECT zson_drop_dictionary(77)", "42704",
            "dictionary 77 of zson does not exist"),
    Mistake("INSERT INTO doc VALUES (3, NULL, '{bad')", "22P02",
            "invalid input syntax for type json", detail='Token "bad" is invalid.'),
    # the way out
    Mistake("DROP EXTENSION colcompress", "2BP01",
            "cannot drop extension colcompress because other objects depend on it",
            "Use DROP ... CASCADE to drop the dependent objects too.",
            "table col depends on access method colcompress.*"),
    Mistake("DROP EXTENSION zson_dict", "2BP01",
            "cannot drop extension zson_dict because other objects depend on it",
            "Use DROP ... CASCADE to drop the dependent objects too.", "column z of .*"),
]  # fmt: skip


@pytest.fixture(scope="module")
def mistaken(module_db):
    with module_db.connect() as conn:
        conn.execute(SETUP)
        conn.execute("DROP ROLE IF EXISTS stranger; CREATE ROLE stranger")
        other = module_db.connect()
        other.execute(SETUP_ELSEWHERE)
        yield conn
        conn.execute("DROP ROLE stranger")


def test_there_are_forty():
    assert len(MISTAKES) >= 40


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.sql)
def test_mistake(mistaken, mistake):
    elsewhere = mistaken.execute(
        "SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'theirs'"
    ).fetchone()[0]
    if mistake.role:
        mistaken.execute(f"SET ROLE {mistake.role}")
    try:
        with pytest.raises(psycopg.Error) as caught:
            for statement in mistake.sql.split("; "):
                mistaken.execute(statement.replace("ELSEWHERE", elsewhere))
    finally:
        mistaken.execute("ROLLBACK")
        mistaken.execute("RESET ROLE")
    found = caught.value.diag
    for pattern, text in (
        (mistake.code, found.sqlstate),
        (mistake.message, found.message_primary),
        (mistake.hint, found.message_hint or ""),
        (mistake.detail or ".*", found.message_detail or ""),
    ):
        assert pattern == text or re.fullmatch(pattern, text, re.S), (pattern, text)
