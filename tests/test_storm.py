"""kill -9 and cancel at any step of load, change, compaction and vacuum.

STORM_POINTS (or SLOW=1: 200) moments for each access method: half of them kill
the server, the others one backend, or cancel or terminate a statement.  What
is hit is a statement of a random kind, some part of its way (strata.storm).
Afterwards the table equals its heap twin, by every index, and is sound.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from conftest import STORE_AMS
from strata.cluster import WORKERS
from strata.storm import Storm
from test_crash import CrashDatabase

pytestmark = pytest.mark.crash

POINTS = int(os.environ.get("STORM_POINTS", "200" if os.environ.get("SLOW") else "25"))

STRIKES = ["server", "backend", "server", "cancel", "server", "terminate"]
KILLS = ["server", "backend", "server"]


def weather(make_cluster, am, seed, points: int, strikes, switches: bool) -> None:
    """A storm of so many points."""
    cluster = make_cluster("storm", **WORKERS, log_error_verbosity="default")
    with cluster.connect() as conn:
        conn.execute("CREATE DATABASE storm")
    with cluster.connect("storm") as conn:
        conn.execute(f"CREATE EXTENSION {am}")
    database = CrashDatabase(cluster, am)
    database.name = "storm"
    rng = random.Random(f"{seed}/storm/{am}" + "/switches" * switches)
    storm = Storm(database, am, rng, switches)
    struck = Counter()
    for point in range(points):
        how = strikes[point % len(strikes)]
        storm.history.append(f"point {point}: {how}")
        try:
            struck[storm.strike(how)] += 1
            storm.calm(how)
            storm.check()
        except BaseException:
            print("\n".join(storm.history))
            raise
    print(f"statements: {dict(storm.done)}\nstruck: {dict(struck)}")


@pytest.mark.parametrize("am", [*STORE_AMS, "sorted_heap"])
def test_nothing_is_lost_whoever_is_killed(make_cluster, server, am, seed):
    if not server.has_extension(am):
        pytest.skip(f"{am} is not installed")
    weather(make_cluster, am, seed, POINTS, STRIKES, False)


@pytest.mark.slow
@pytest.mark.parametrize("am", [*STORE_AMS, "sorted_heap"])
def test_nothing_is_lost_on_the_way_from_heap_and_back(make_cluster, server, am, seed):
    """kill -9 during adopt, release and compact, at a quarter as many points."""
    if not server.has_extension(am):
        pytest.skip(f"{am} is not installed")
    weather(make_cluster, am, seed, (POINTS + 3) // 4, KILLS, True)
