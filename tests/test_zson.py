"""zson: dumps, crashes, concurrent training, logical decoding, generated documents."""

from __future__ import annotations

import json
import os
import random
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from strata.wait import wait_until

DOCUMENTS = 3000

# ZSON_DOCUMENTS=1000000 for the long run
GENERATED = int(os.environ.get("ZSON_DOCUMENTS", "1500"))

FILL = f"""
CREATE EXTENSION zson_dict;
CREATE TABLE plain (id int PRIMARY KEY, doc jsonb);
INSERT INTO plain SELECT g, jsonb_build_object('os', 'system number ' || g % 7, 'version', g % 120,
    'revenue', round((g * 7919 % 50000) / 100.0, 2), 'text', repeat('words that repeat ', g % 9) || md5(g::text))
FROM generate_series(1, {DOCUMENTS}) g;
"""

# signature, flags and extension of a binary COPY
COPY_START = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)

SIZE = "SELECT sum(pg_column_size(doc)) FROM docs"
ALL = "SELECT id, doc::text FROM docs ORDER BY id"


@pytest.fixture
def own(make_cluster):
    cluster = make_cluster("zson", wal_level="logical", max_prepared_transactions="5")
    with cluster.connect(autocommit=True) as conn:
        conn.execute(FILL)
        conn.execute("SELECT zson_train('plain', 'doc')")
        conn.execute("CREATE TABLE docs (id int PRIMARY KEY, doc zson)")
        conn.execute("INSERT INTO docs SELECT * FROM plain")
    return cluster


def value(conn, sql):
    return conn.execute(sql).fetchone()[0]


@pytest.mark.parametrize("form", ["plain", "custom", "directory -j 2", "data only"])
def test_dump_and_restore(own, server, workdir, form):
    """Documents come back, as small as they were, with no manual step."""
    own.run("createdb", "-T", "template0", "restored")
    place = server.own(workdir / f"zson-{form.split()[0]}") / "dump"
    if form == "plain":
        dump = own.run("pg_dump", "postgres").stdout
        own.run(
            "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "restored", input=dump
        )
    elif form == "data only":
        schema = own.run("pg_dump", "-s", "postgres").stdout
        own.run(
            "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "restored", input=schema
        )
        data = own.run("pg_dump", "-a", "postgres").stdout
        own.run(
            "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "restored", input=data
        )
    else:
        options = ["-Fc"] if form == "custom" else ["-Fd", "-j", "2"]
        own.run("pg_dump", *options, "-f", str(place), "postgres")
        jobs = ["-j", "2"]
        own.run("pg_restore", "--exit-on-error", *jobs, "-d", "restored", str(place))
    with own.connect() as before, own.connect("restored", autocommit=True) as after:
        assert before.execute(ALL).fetchall() == after.execute(ALL).fetchall()
        info = "SELECT dictionary, column_name, bytes FROM zson_info()"
        assert before.execute(info).fetchall() == after.execute(info).fetchall()
        assert abs(value(after, SIZE) - value(before, SIZE)) < 0.05 * value(
            before, SIZE
        )
        # an id is not given out again
        used = value(after, "SELECT max(dictionary) FROM zson_info()")
        after.execute("TRUNCATE plain")
        after.execute(
            "INSERT INTO plain SELECT g, jsonb_build_object('quite', 'another kind of document ' || g % 9)"
            " FROM generate_series(1, 500) g"
        )
        assert value(after, "SELECT dictionary FROM zson_train('plain', 'doc')") > used


def test_single_table_dump(own):
    """One table alone restores without its dictionary: larger, but whole."""
    own.run("createdb", "-T", "template0", "alone")
    dump = own.run("pg_dump", "-t", "docs", "postgres").stdout
    with own.connect("alone", autocommit=True) as conn:
        conn.execute("CREATE EXTENSION zson_dict")
    own.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "alone", input=dump)
    with own.connect() as before, own.connect("alone") as after:
        assert before.execute(ALL).fetchall() == after.execute(ALL).fetchall()


def test_drop_extension(own):
    """Without documents the extension goes, dictionaries included; with them it stays."""
    with own.connect(autocommit=True) as conn:
        with pytest.raises(psycopg.errors.DependentObjectsStillExist):
            conn.execute("DROP EXTENSION zson_dict")
        conn.execute("ALTER TABLE docs ALTER doc TYPE jsonb")
        conn.execute("DROP EXTENSION zson_dict")
        assert (
            value(conn, "SELECT count(*) FROM pg_namespace WHERE nspname = 'zson_dict'")
            == 0
        )


def test_extension_made_anew(own):
    """Sessions that know a dictionary do not take another one of its number for it."""
    with own.connect(autocommit=True) as one, own.connect(autocommit=True) as two:
        read = "SELECT count(doc ->> 'os'), count(doc ->> 'kind') FROM docs"
        for conn in (one, two):
            assert conn.execute(read).fetchone() == (DOCUMENTS, 0)
        one.execute("DROP EXTENSION zson_dict CASCADE")
        one.execute("CREATE EXTENSION zson_dict")
        one.execute(
            "UPDATE plain SET doc = jsonb_build_object('kind', 'sort ' || id % 9, 'place', 'somewhere ' || id % 30)"
        )
        assert value(one, "SELECT dictionary FROM zson_train('plain', 'doc')") == 1
        one.execute("ALTER TABLE docs ADD doc zson")
        two.execute("UPDATE docs SET doc = p.doc FROM plain p WHERE p.id = docs.id")
        for conn in (own.connect(autocommit=True), one, two):
            assert conn.execute(read).fetchone() == (0, DOCUMENTS)
            differ = "SELECT count(*) FROM docs JOIN plain p USING (id) WHERE docs.doc::text <> p.doc::text OR docs.doc -> 'kind' <> p.doc -> 'kind'"
            assert value(conn, differ) == 0
            used = "SELECT count(*) FROM docs WHERE (zson_storage(doc)).dictionary = 1"
            assert value(conn, used) == DOCUMENTS


@pytest.mark.crash
def test_crash_keeps_what_was_committed(own):
    with own.connect(autocommit=True) as conn:
        expected = conn.execute(
            "SELECT id, doc::text FROM plain ORDER BY id"
        ).fetchall()
    conn = own.connect(autocommit=False)
    conn.execute(
        'INSERT INTO plain SELECT id + 100000, doc || \'{"new": "key"}\' FROM plain'
    )
    conn.execute("SELECT zson_train('plain', 'doc')")
    own.crash()
    conn.close()
    with own.connect() as conn:
        assert conn.execute(ALL).fetchall() == expected
        assert value(conn, "SELECT count(*) FROM zson_info()") == 1


def test_training_is_one_at_a_time(own):
    with own.connect(autocommit=False) as one, own.connect(autocommit=True) as two:
        one.execute(
            'UPDATE plain SET doc = doc || \'{"more": "a key that no dictionary has"}\''
        )
        one.commit()
        one.execute("SELECT zson_train('plain', 'doc')")
        with pytest.raises(psycopg.errors.ObjectInUse):
            two.execute("SELECT zson_train('plain', 'doc')")
        # others write with the old dictionary meanwhile, and read
        two.execute("INSERT INTO docs SELECT id + 10000, doc FROM plain LIMIT 10")
        one.commit()
        newest = value(two, "SELECT max(dictionary) FROM zson_info()")
        two.execute("INSERT INTO docs SELECT id + 20000, doc FROM plain LIMIT 10")
        used = (
            "SELECT DISTINCT (zson_storage(doc)).dictionary FROM docs WHERE id > 20000"
        )
        assert two.execute(used).fetchall() == [(newest,)]
        differ = "SELECT count(*) FROM docs d JOIN plain p ON p.id = d.id % 10000 WHERE d.id > 10000 AND d.doc::text <> p.doc::text"
        assert value(two, differ) == 0


def test_dropped_dictionary_and_other_sessions(own):
    """No session stores a document of a dictionary that went: not by a plan that it kept, not by
    a value that it read while the tables were looked through."""
    with own.connect(autocommit=True) as one, own.connect(autocommit=True) as two:
        dictionary = value(one, "SELECT max(dictionary) FROM zson_info()")
        two.execute("CREATE TABLE kept (doc zson)")
        two.execute(
            "PREPARE again AS INSERT INTO kept VALUES"
            """ ('{"os": "system number 3", "text": "", "revenue": 1, "version": 2}')"""
        )
        two.execute("EXECUTE again")
        used = "SELECT DISTINCT (zson_storage(doc)).dictionary FROM kept"
        assert two.execute(used).fetchall() == [(dictionary,)]
        two.execute("DELETE FROM kept")
        # the next one takes documents with the same keys
        one.execute(
            "UPDATE plain SET doc = doc || jsonb_build_object('os', 'other system ' || id % 7,"
            " 'text', 'more or less ' || repeat(md5((id % 19)::text), 3))"
        )
        assert value(one, "SELECT dictionary FROM zson_train('plain', 'doc')")
        one.execute("CALL zson_recompress('docs', 'doc')")
        one.execute("ANALYZE docs")
        drop = f"SELECT zson_drop_dictionary({dictionary})"
        two.execute("SET track_activities = off")
        two.execute("BEGIN")
        two.execute("SELECT 1")
        with pytest.raises(psycopg.errors.ObjectInUse):
            one.execute(drop)
        two.execute("COMMIT")

        # a transaction that began after the first look, and holds nothing that is waited for
        with own.connect(autocommit=False) as three:
            three.execute("SELECT pg_advisory_lock(1)")
            three.commit()
            one.execute(
                "CREATE FUNCTION pause() RETURNS event_trigger LANGUAGE plpgsql AS"
                " $$ BEGIN PERFORM pg_advisory_lock_shared(1); END $$"
            )
            one.execute(
                "CREATE EVENT TRIGGER pause ON sql_drop EXECUTE FUNCTION pause()"
            )
            paused = threading.Event()

            def drop_that_pauses():
                # The first look may find the session that looks for the pause.
                while True:
                    try:
                        return one.execute(drop)
                    except psycopg.errors.ObjectInUse:
                        if paused.is_set():
                            raise

            with ThreadPoolExecutor(1) as pool:
                dropping = pool.submit(drop_that_pauses)
                waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                try:
                    wait_until(lambda: value(two, waits) == 1, "the drop to pause", 60)
                finally:
                    paused.set()
                two.execute("BEGIN")
                two.execute("SELECT 1")
                three.execute("SELECT pg_advisory_unlock(1)")
                three.commit()
                with pytest.raises(psycopg.errors.ObjectInUse):
                    dropping.result(60)
                two.execute("COMMIT")
        one.execute("DROP EVENT TRIGGER pause")

        # who may use the schema stays as the owner of the database has it
        rights = "SELECT has_schema_privilege(0, 'zson_dict', 'USAGE')"
        assert value(one, rights) is True
        one.execute("REVOKE USAGE ON SCHEMA zson_dict FROM PUBLIC")
        one.execute(drop)
        assert value(one, rights) is False
        assert (
            value(
                one,
                f"SELECT count(*) FROM zson_info() WHERE dictionary = {dictionary}",
            )
            == 0
        )
        two.execute("EXECUTE again")
        assert two.execute(used).fetchall() != [(dictionary,)]
        assert value(two, "SELECT doc ->> 'os' FROM kept") == "system number 3"


def test_logical_decoding(own):
    """Changes are decoded as jsonb's text, also after the dictionary is gone."""
    with own.connect(autocommit=True) as conn:
        conn.execute("CREATE PUBLICATION p FOR ALL TABLES")
        conn.execute("SELECT pg_create_logical_replication_slot('s', 'pgoutput')")
        conn.execute(
            "INSERT INTO docs SELECT id + 50000, doc FROM plain WHERE id <= 20"
        )
        texts = [
            t for (t,) in conn.execute("SELECT doc::text FROM plain WHERE id <= 20")
        ]
        changes = conn.execute(
            "SELECT data FROM pg_logical_slot_get_binary_changes('s', NULL, NULL,"
            " 'proto_version', '1', 'publication_names', 'p')"
        ).fetchall()
        everything = b"".join(bytes(data) for (data,) in changes)
        for text in texts:
            assert text.encode() in everything
        # dictionaries are not published
        assert (
            value(
                conn,
                "SELECT count(*) FROM pg_publication_tables WHERE schemaname = 'zson_dict'",
            )
            == 0
        )
        conn.execute("SELECT pg_drop_replication_slot('s')")


def test_subscriber(own, make_cluster):
    """A subscriber gets documents as text or in binary, and keeps them with its own dictionaries."""
    subscriber = make_cluster("subscriber")
    with own.connect(autocommit=True) as conn:
        conn.execute("CREATE PUBLICATION p FOR TABLE docs")
    with subscriber.connect(autocommit=True) as conn:
        conn.execute("CREATE EXTENSION zson_dict")
        conn.execute("CREATE TABLE docs (id int PRIMARY KEY, doc zson)")
        for number, binary in enumerate(("false", "true")):
            conn.execute("TRUNCATE docs")
            conn.execute(
                f"CREATE SUBSCRIPTION s{number} CONNECTION '{own.dsn()}' PUBLICATION p WITH (binary = {binary})"
            )
            with own.connect(autocommit=True) as publisher:
                publisher.execute(
                    "UPDATE docs SET doc = doc || '{\"seen\": true}' WHERE id <= 5"
                )
                expected = publisher.execute(ALL).fetchall()
            wait_until(
                lambda expected=expected: conn.execute(ALL).fetchall() == expected,
                "the subscriber has the documents",
                60,
            )
            conn.execute(f"DROP SUBSCRIPTION s{number}")
        used = (
            "SELECT count(*) FROM docs WHERE (zson_storage(doc)).dictionary IS NOT NULL"
        )
        assert value(conn, used) == 0
        conn.execute("SELECT zson_train('docs', 'doc')")
        conn.execute("CALL zson_recompress('docs', 'doc')")
        assert value(conn, used) == len(expected)
        assert conn.execute(ALL).fetchall() == expected


def test_schedule_on_pg_cron(make_cluster, server):
    """A job of a real pg_cron, whose command learns."""
    if not (server.pkglibdir / "pg_cron.so").exists():
        pytest.skip("pg_cron is not installed")
    cluster = make_cluster(
        "zson-cron",
        **{"shared_preload_libraries": "pg_cron", "cron.database_name": "postgres"},
    )
    with cluster.connect(autocommit=True) as conn:
        conn.execute(FILL)
        conn.execute("CREATE EXTENSION pg_cron")
        conn.execute("""ALTER TABLE plain RENAME TO "a 'B'" """)
        table = """'"a ''B''"', 'doc'"""
        conn.execute(f"SELECT zson_schedule({table}, '0 3 * * 0')")
        jobs = conn.execute("SELECT schedule, command FROM cron.job").fetchall()
        assert len(jobs) == 1 and jobs[0][0] == "0 3 * * 0"
        for _ in range(2):
            conn.execute(jobs[0][1])
            assert value(conn, "SELECT count(*) FROM zson_info()") == 1
        with pytest.raises(psycopg.Error):
            conn.execute(f"SELECT zson_schedule({table}, 'never')")
        for there in (True, False):
            assert value(conn, f"SELECT zson_unschedule({table})") is there
        assert conn.execute("SELECT * FROM cron.job").fetchall() == []


def test_unprivileged_reader(own):
    with own.connect(autocommit=True) as conn:
        conn.execute("CREATE ROLE reader LOGIN")
        conn.execute("GRANT SELECT ON docs TO reader")
    with own.connect(user="reader") as conn:
        assert (
            value(
                conn, "SELECT count(*) FROM docs WHERE doc ->> 'os' = 'system number 3'"
            )
            > 0
        )


def test_standby(own, make_cluster):
    standby = make_cluster("standby", data=False)
    own.run(
        "pg_basebackup", "-c", "fast", "-R", "-X", "stream", "-D", str(standby.data)
    )
    standby.start()
    with own.connect() as before, standby.connect() as after:
        assert before.execute(ALL).fetchall() == after.execute(ALL).fetchall()


@pytest.mark.parametrize("am", ["colcompress", "rowcompress", "sorted_heap"])
def test_access_methods(make_cluster, server, am):
    """Documents in tables of the other extensions: the same, and not larger."""
    if not server.has_extension(am):
        pytest.skip(f"{am} is not installed")
    cluster = make_cluster(f"zson-{am}", shared_preload_libraries=am)
    with cluster.connect(autocommit=True) as conn:
        conn.execute(FILL)
        conn.execute(f"CREATE EXTENSION {am}")
        conn.execute("SELECT zson_train('plain', 'doc')")
        columns = "(id int PRIMARY KEY, doc zson)"
        if am == "sorted_heap":
            columns = "(id int, doc zson)"
        conn.execute("CREATE TABLE twin (id int PRIMARY KEY, doc zson)")
        conn.execute(f"CREATE TABLE docs {columns} USING {am}")
        conn.execute("CREATE INDEX ON docs USING gin (doc)")
        for table in ("twin", "docs"):
            conn.execute(f"INSERT INTO {table} SELECT * FROM plain")
            conn.execute(
                f"UPDATE {table} SET doc = doc || '{{\"new\": [1, 2]}}' WHERE id % 10 = 0"
            )
            conn.execute(f"DELETE FROM {table} WHERE id % 13 = 0")
            conn.execute(f"VACUUM ANALYZE {table}")
        for query in (
            "SELECT id, doc::text FROM {} ORDER BY id",
            "SELECT doc ->> 'os', count(*), sum((doc ->> 'revenue')::numeric) FROM {} GROUP BY 1 ORDER BY 1",
            "SELECT id FROM {} WHERE doc @> '{{\"version\": 7}}' ORDER BY id",
            "SELECT count(DISTINCT doc -> 'version'), count(DISTINCT doc) FROM {}",
            "SELECT id FROM {} WHERE doc ? 'new' AND id < 300 ORDER BY id",
        ):
            expected = conn.execute(query.format("twin")).fetchall()
            assert conn.execute(query.format("docs")).fetchall() == expected
            assert expected
        sizes = "SELECT pg_table_size('docs'), pg_table_size('twin')"
        ours, heap = conn.execute(sizes).fetchone()
        # what the delta and the deleted rows take is a table's matter
        conn.execute("VACUUM FULL docs")
        conn.execute("VACUUM FULL twin")
        ours, heap = conn.execute(sizes).fetchone()
        assert ours < 1.1 * heap
        expected = conn.execute("SELECT doc::text FROM twin ORDER BY id").fetchall()
        assert (
            conn.execute("SELECT doc::text FROM docs ORDER BY id").fetchall()
            == expected
        )


@pytest.mark.parametrize(
    "options", ["ENCODING 'LATIN1' LOCALE 'C'", "ENCODING 'UTF8' LOCALE 'C.UTF-8'"]
)
def test_other_schema_and_collations(own, options):
    """The extension in a schema of its own, under other encodings and collations."""
    with own.connect(autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE elsewhere TEMPLATE template0 {options}")
    with own.connect("elsewhere", autocommit=True) as conn:
        conn.execute("CREATE SCHEMA apart")
        conn.execute("CREATE EXTENSION zson_dict SCHEMA apart")
        conn.execute("CREATE TABLE docs (id serial PRIMARY KEY, j jsonb, z apart.zson)")
        conn.execute(
            "INSERT INTO docs (j) SELECT jsonb_build_object('B', g, 'a', 'Zo\u00eb ' || g % 9, '\u00e4', 'stra\u00dfe ' || g)"
            " FROM generate_series(1, 500) g"
        )
        ((trained,),) = conn.execute(
            "SELECT dictionary FROM apart.zson_train('docs', 'j')"
        ).fetchall()
        assert trained
        conn.execute("UPDATE docs SET z = j")
        # operators want their schema in the path, as any extension's
        conn.execute("SET search_path = public, apart")
        assert conn.execute(
            "SELECT count(*) FILTER (WHERE z::text <> j::text), count(*) FILTER (WHERE z ->> 'a' <> j ->> 'a'),"
            " count(*) FILTER (WHERE z ->> '\u00e4' <> j ->> '\u00e4'), count(*) FILTER (WHERE (zson_storage(z)).dictionary IS NULL) FROM docs"
        ).fetchone() == (0, 0, 0, 0)
        assert conn.execute(
            "SELECT (SELECT array_agg(id ORDER BY z) FROM docs) = (SELECT array_agg(id ORDER BY j) FROM docs)"
        ).fetchone() == (True,)
        conn.execute("CALL zson_recompress('docs', 'z')")
        assert conn.execute("SELECT count(*) FROM zson_stats('docs', 'z')").fetchone()
    with own.connect(autocommit=True) as conn:
        conn.execute("DROP DATABASE elsewhere")


def random_value(rng: random.Random, depth: int):
    kind = rng.randrange(10 if depth else 7)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.choice(
            [
                0,
                1,
                -1,
                31,
                32,
                255,
                256,
                2**31,
                -(2**31),
                2**63 - 1,
                -(2**63),
                2**64,
                10**30,
            ]
        )
    if kind == 2:
        return rng.randrange(-(10**6), 10**6) / 10 ** rng.randrange(8)
    if kind == 3:
        return rng.choice(
            ["", "a", "ä€😀", "\u2028", "x" * 1000, f"{rng.getrandbits(128):032x}"]
        )
    if kind == 4:
        return "".join(
            chr(rng.choice([9, 10, 34, 92, 127, 0xE4, 0x20AC, 0x1F600, 97]))
            for _ in range(rng.randrange(40))
        )
    if kind == 5:
        return f"2024-{rng.randrange(14):02d}-{rng.randrange(33):02d}T{rng.randrange(26):02d}:00:00Z"
    if kind == 6:
        return str(rng.randrange(10 ** rng.randrange(1, 25)))
    if kind == 7:
        return [random_value(rng, depth - 1) for _ in range(rng.choice([0, 1, 3, 70]))]
    return {
        rng.choice(
            ["id", "name", "os", "tags", f"k{rng.randrange(50)}", "", "ü"]
        ): random_value(rng, depth - 1)
        for _ in range(rng.choice([0, 1, 3, 5, 90]))
    }


# of 1.7 kB on average
GENERATED_AT_ONCE = 20000


def test_generated_documents(own, rng):
    """Documents of any shape, with and without dictionaries, read back as jsonb writes them."""
    differ = (
        "SELECT count(*), count(*) FILTER (WHERE bare::text <> j::text), count(*) FILTER (WHERE z::text <> j::text),"
        " count(*) FILTER (WHERE z <> bare), count(*) FILTER (WHERE zson_hash(z) <> jsonb_hash(j)),"
        " count(*) FILTER (WHERE z -> 'id' IS DISTINCT FROM (j -> 'id')::zson),"
        " count(*) FILTER (WHERE z ->> 'name' IS DISTINCT FROM j ->> 'name'),"
        " count(*) FILTER (WHERE z #>> '{tags,0}' IS DISTINCT FROM j #>> '{tags,0}'),"
        " count(*) FILTER (WHERE (z @> '{\"os\": true}') <> (j @> '{\"os\": true}')),"
        " count(*) FILTER (WHERE pg_column_size(bare) > pg_column_size(j::text::jsonb) + 2),"
        " count(*) FILTER (WHERE pg_column_size(z) > pg_column_size(j::text::jsonb) + 2) FROM corpus"
    )
    with own.connect(autocommit=True) as conn:
        conn.execute("CREATE TABLE corpus (id serial, j jsonb, bare zson, z zson)")
        for start in range(0, GENERATED, GENERATED_AT_ONCE):
            n = min(GENERATED_AT_ONCE, GENERATED - start)
            conn.execute("TRUNCATE corpus")
            with (
                conn.cursor() as cur,
                cur.copy("COPY corpus (j, bare) FROM STDIN") as copy,
            ):
                for _ in range(n):
                    document = json.dumps(
                        random_value(rng, 3), ensure_ascii=rng.random() < 0.5
                    )
                    copy.write_row((document, document))
            if start == 0:
                conn.execute("SELECT zson_learn('{{corpus, j}}', min_count => 2)")
            conn.execute("UPDATE corpus SET z = j::text::zson")
            assert conn.execute(differ).fetchone() == (n, *[0] * 10)


def mutated(rng: random.Random, text: str) -> str:
    """The text with a few characters changed, dropped, doubled, or cut off."""
    chars = list(text)
    for _ in range(rng.choice([1, 1, 2, 5])):
        if not chars:
            break
        at = rng.randrange(len(chars))
        kind = rng.randrange(5)
        if kind == 0:
            chars[at] = rng.choice('{}[],:"\\/ \t\n0123456789-+.eEtfnu\x01\x7f\u00e4')
        elif kind == 1:
            del chars[at]
        elif kind == 2:
            chars.insert(at, rng.choice('{}[],:"\\ \n0-.e'))
        elif kind == 3:
            chars[at:at] = chars[at : at + rng.randrange(20)]
        else:
            del chars[at + rng.randrange(len(chars) - at) :]
    return "".join(chars)


def test_damaged_texts(own, rng):
    """Text that is almost JSON is taken or refused as jsonb does, with its message, by text
    and by binary input."""
    texts = [json.dumps(random_value(rng, 2), ensure_ascii=False) for _ in range(150)]
    sound = sum(text.startswith(("{", "[")) for text in texts)
    texts += [mutated(rng, rng.choice(texts)) for _ in range(GENERATED)]
    with own.connect(autocommit=True) as conn:
        conn.execute("CREATE TABLE texts (t text)")
        conn.execute("CREATE TABLE received (z zson)")
        conn.execute(
            "CREATE FUNCTION reads_as(kind regtype, document text) RETURNS text LANGUAGE plpgsql AS $$"
            " DECLARE result text; BEGIN EXECUTE format('SELECT ($1::%s)::text', kind) INTO result USING document;"
            " RETURN result; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || SQLERRM; END $$"
        )
        with conn.cursor() as cur, cur.copy("COPY texts FROM STDIN") as copy:
            for text in texts:
                copy.write_row((text,))
        total, good, differ = conn.execute(
            "SELECT count(*), count(*) FILTER (WHERE left(a, 1) IN ('{', '[')), count(*) FILTER (WHERE a <> b)"
            " FROM (SELECT reads_as('jsonb', t) AS a, reads_as('zson', t) AS b FROM texts) both_of_them"
        ).fetchone()
        assert total == len(texts) and 10 < sound <= good < total and differ == 0
        for text in texts[:: max(1, len(texts) // 150)]:
            binary = b"\x01" + text.encode()
            outcomes = []
            for kind in ("jsonb", "zson"):
                try:
                    with conn.cursor() as cur:
                        cur.execute("DROP TABLE IF EXISTS received")
                        cur.execute(f"CREATE TEMP TABLE received (v {kind})")
                        with cur.copy("COPY received FROM STDIN BINARY") as copy:
                            copy.write(COPY_START + struct.pack("!hi", 1, len(binary)))
                            copy.write(binary + struct.pack("!h", -1))
                    outcomes.append(value(conn, "SELECT v::text FROM received"))
                except psycopg.Error as error:
                    outcomes.append(error.sqlstate)
            assert outcomes[0] == outcomes[1], text


def test_memory_of_many_dictionaries(own):
    with own.connect(autocommit=True) as conn:
        for i in range(20):
            conn.execute("TRUNCATE plain")
            conn.execute(
                f"INSERT INTO plain SELECT g, jsonb_build_object('kind {i}', md5(g::text) || repeat(md5((g % 300)::text), 8),"
                " 'some text', 'words ' || repeat('and words ' || g % 50, 9) || md5((g * 3)::text))"
                " FROM generate_series(1, 600) g"
            )
            conn.execute("SELECT zson_train('plain', 'doc')")
            conn.execute(
                "INSERT INTO docs SELECT id + %s, doc FROM plain", [100_000 * (i + 1)]
            )
        assert value(conn, "SELECT count(*) FROM zson_info()") == 21
        assert value(conn, "SELECT count(doc ->> 'some text') FROM docs") == 20 * 600
        assert value(conn, "SELECT zson_cache_bytes()") <= 4 * 1024 * 1024
