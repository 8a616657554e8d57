"""Tables at each stage of the way from heap to an access method of ours and back."""

from __future__ import annotations

from .switch import method, nothing_left
from .twin import Session, Twin, execute

ROWS = 12_000
STAGES = ("adopted", "compacting", "compacted", "releasing", "released")


def reach(twin: Twin, table: str, stage: str) -> None:
    """Takes the table on, from the stage before."""
    run = twin.ours.execute
    if stage == "adopted":
        run(f"SELECT {twin.am}.adopt('{table}')")
        run(
            f"SELECT {twin.am}.set_options('{table}', row_group_rows => 2048,"
            " auto_compact => false)"
        )
    elif stage == "compacting":
        run(f"CALL {twin.am}.compact('{table}', max_steps => 1)")
    elif stage == "compacted":
        run(f"CALL {twin.am}.merge('{table}')")
    elif stage == "releasing":
        release_in_part(twin, table)
    else:
        run(f"CALL {twin.am}.release('{table}')")


def release_in_part(twin: Twin, table: str) -> None:
    """A row of one of the row groups is locked by somebody else."""
    other = twin.session()
    other.ok("BEGIN")
    other.ok(f"SELECT id FROM {table} WHERE id = {ROWS - 1} FOR UPDATE")
    outcome = execute(
        twin.ours, f"CALL {twin.am}.release('{table}', patience => '0.2 seconds')"
    )
    assert outcome.sqlstate == "55P03", outcome
    other.ok("COMMIT")


def make_stages(twin: Twin) -> None:
    """A table at each of the stages, which its name says."""
    twin.ours.execute("SET default_table_access_method = heap")
    for number, table in enumerate(STAGES):
        twin.ok(f"CREATE TABLE {table} (id int PRIMARY KEY, k int, v text)")
        twin.ok(
            f"INSERT INTO {table} SELECT i, i % 50, repeat(md5(i::text), 1 + i % 3)"
            f" FROM generate_series(1, {ROWS}) i"
        )
        twin.ok(f"DELETE FROM {table} WHERE id % 9 = 0")
        for stage in STAGES[: number + 1]:
            reach(twin, table, stage)
    twin.ours.execute(f"SET default_table_access_method = {twin.am}")
    check_stages(twin, twin.am)


def check_stages(session: Session, am: str) -> None:
    """The tables have their twins' rows and are what their stage makes them."""
    for table in STAGES:
        session.check(table)
        if table == "released":
            assert method(session.ours, table) == "heap"
            nothing_left(session.ours, table)
            continue
        assert method(session.ours, table) == am
        found = session.ours.execute(
            f"SELECT (SELECT count(*) FROM {am}.verify('{table}')),"
            f" (SELECT count(*) > 0 FROM {am}.row_groups('{table}'))"
        )
        assert found.fetchone() == (0, table != "adopted"), table


def end_stages(twin: Twin) -> None:
    """Changes at each stage, then the ways to heap are gone to their ends."""
    for number, table in enumerate(STAGES):
        twin.ok(f"UPDATE {table} SET k = k + 1 WHERE id % 5 = 1")
        twin.ok(f"DELETE FROM {table} WHERE id % 700 = 4")
        twin.ok(f"INSERT INTO {table} VALUES (-1, 1, 'new')")
        for stage in STAGES[number + 1 :]:
            reach(twin, table, stage)
        twin.check(table)
        assert method(twin.ours, table) == "heap"
        nothing_left(twin.ours, table)
