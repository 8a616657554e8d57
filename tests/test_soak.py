"""Hours of work: every kind of session, maintenance and fault.

`make soak MINUTES=480` runs it (SOAK_MINUTES); at least one round of each fault.
"""

from __future__ import annotations

import os
import random
import time

import pytest
from strata.cluster import WORKERS
from strata.soak import FAULTS, Soak
from test_crash import CrashDatabase

pytestmark = [
    pytest.mark.crash,
    pytest.mark.skipif(
        "SOAK_MINUTES" not in os.environ, reason="make soak MINUTES=n runs it"
    ),
]

MINUTES = float(os.environ.get("SOAK_MINUTES", "0"))
SECONDS = float(os.environ.get("SOAK_ROUND", "4"))
AMS = {"col": "colcompress", "row": "rowcompress", "zone": "sorted_heap"}


def test_nothing_is_lost_in_a_soak(make_cluster, server, seed):
    for am in (*AMS.values(), "amcheck"):
        if not server.has_extension(am):
            pytest.skip(f"{am} is not installed")
    cluster = make_cluster(
        "soak", **WORKERS, autovacuum="on", autovacuum_naptime="1s", max_prepared_transactions="20",
        log_error_verbosity="default", allow_in_place_tablespaces="on",
    )  # fmt: skip
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE soak")
        conn.execute("CREATE TABLESPACE soak LOCATION ''")
    with cluster.connect("soak") as conn:
        for extension in (*AMS.values(), "amcheck"):
            conn.execute(f"CREATE EXTENSION {extension}")
    database = CrashDatabase(cluster, "heap")
    database.name = "soak"
    soak = Soak(database, AMS, random.Random(f"{seed}/soak"))
    deadline = time.monotonic() + MINUTES * 60
    number = 0
    while number < len(FAULTS) or time.monotonic() < deadline:
        try:
            soak.round(number, FAULTS[number % len(FAULTS)], SECONDS)
        except BaseException:
            print("\n".join(soak.history))
            raise
        number += 1
    print(
        f"rounds: {number}, commits: {len(soak.ledger.acknowledged)}\n"
        f"done: {dict(soak.done)}\nerrors: {dict(soak.failed)}"
    )
