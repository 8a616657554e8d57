"""The extensions' own pg_regress and isolation suites, by PGXS installcheck."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import STORE_AMS

ROOT = Path(__file__).resolve().parent.parent
EXTENSIONS = sorted(path.parent.name for path in ROOT.glob("extensions/*/Makefile"))

# The Makefile's variable that names the suites, and the one to leave empty.
SUITES = {
    "regress": ("REGRESS", "ISOLATION="),
    "isolation": ("ISOLATION", "REGRESS="),
}

# Queries by the hundred, of kinds that random queries have, too.
GRIDS = {
    "agg_algebra",
    "agg_footer",
    "agg_shared",
    "join_parallel",
    "setop_vectors",
    "sort_parts",
    "sort_strings",
    "topn",
    "window_vectors",
}


@pytest.mark.long
@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_suite(make_cluster, server, tmp_path, request, extension, suite):
    directory = ROOT / "extensions" / extension
    variable, without = SUITES[suite]
    if f"\n{variable} = " not in makefile(directory):
        pytest.skip(f"{extension} has no {suite} suite")
    chosen = []
    if request.config.option.quick:
        chosen = quick_part(directory, suite)
    # From 19 on the server may group below a join: other plans than expected here.
    settings = {"enable_eager_aggregate": "off"} if server.major >= 19 else {}
    cluster = make_cluster(suite, **settings)
    done = subprocess.run(
        ["make", "-s", "-C", directory, "installcheck", without, *chosen]
        + [f"PG_CONFIG={server.pg_config}", f"REGRESS_OUTPUT={tmp_path}"],
        env=server.environment()
        | {"PGHOST": str(cluster.socket), "PGUSER": "postgres", "LANG": "C"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=float(os.environ.get("SUITE_SECONDS", 900)),
    )
    print(done.stdout)
    for diffs in tmp_path.rglob("regression.diffs"):
        print(diffs.read_text()[:50_000])
    keep_results(tmp_path, extension, suite, done.returncode != 0)
    assert done.returncode == 0


def makefile(directory: Path) -> str:
    return (directory / "Makefile").read_text().replace("\\\n", " ")


def quick_part(directory: Path, suite: str) -> list[str]:
    """What `make check` runs of common/test, which both access methods on the store
    have to pass: suites for colcompress but the longest, and of the races half for
    each."""
    am = directory.name
    if (am, suite) == ("rowcompress", "regress"):
        own = sorted(path.stem for path in directory.glob("test/sql/*.sql"))
        return ["REGRESS=" + " ".join(["setup", *own])]
    if (am, suite) == ("colcompress", "regress"):
        names = re.findall(r"^REGRESS \+?= (.*)", makefile(directory), re.M)
        chosen = [name for name in " ".join(names).split() if name not in GRIDS]
        return ["REGRESS=" + " ".join(chosen)]
    if am in STORE_AMS and suite == "isolation":
        shared = sorted(path.stem for path in ROOT.glob("common/test/specs/*.spec"))
        own = [path.stem for path in directory.glob("test/specs/*.spec")]
        half = shared[STORE_AMS.index(am) :: len(STORE_AMS)]
        return ["ISOLATION=" + " ".join([*half, *own])]
    return []


def keep_results(output: Path, extension: str, suite: str, failed: bool) -> None:
    """REGRESS_KEEP=dir keeps what failing suites printed."""
    keep = os.environ.get("REGRESS_KEEP")
    if keep and failed:
        shutil.copytree(output, Path(keep) / f"{extension}-{suite}", dirs_exist_ok=True)
