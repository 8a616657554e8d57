"""What packages say of the extensions agrees with what these are."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import zipfile

import pytest
from test_docs import ROOT

EXTENSIONS = sorted(path.name for path in (ROOT / "extensions").iterdir())
SEMVER = re.compile(r"\d+\.\d+\.\d+")


def default_version(name: str) -> str:
    control = (ROOT / "extensions" / name / f"{name}.control").read_text()
    return re.search(r"^default_version = '(.*)'$", control, re.M)[1]


def maintainer() -> str:
    """Name and address as Debian's control file has them.  A domain that can
    never exist, until there is an address that somebody reads."""
    control = (ROOT / "debian/control.in").read_text()
    return re.search(r"^Maintainer: (.+ <\S+@\S+\.[a-z]+>)$", control, re.M)[1]


@pytest.mark.parametrize("name", EXTENSIONS)
def test_meta_of_pgxn(name):
    """What its specification 1.0.0 requires, and our own versions."""
    meta = json.loads((ROOT / "extensions" / name / "META.json").read_text())
    assert meta["name"] == name
    assert meta["meta-spec"]["version"] == "1.0.0"
    assert meta["license"] == "postgresql"
    assert meta["maintainer"] == maintainer()
    assert 0 < len(meta["abstract"]) < 80 and meta["tags"]
    assert SEMVER.fullmatch(meta["version"])
    assert meta["version"] == f"{default_version(name)}.0"
    (provided,) = meta["provides"].items()
    assert provided[0] == name
    assert provided[1]["version"] == meta["version"]
    assert (ROOT / provided[1]["file"]).exists()


def test_packages_of_debian():
    control = (ROOT / "debian/control.in").read_text()
    names = re.findall(r"^Package: postgresql-PGVERSION-(\S+)$", control, re.M)
    assert sorted(name.replace("-", "_") for name in names) == EXTENSIONS
    changelog = (ROOT / "debian/changelog").read_text()
    assert f"\n -- {maintainer()}  " in changelog
    (version,) = re.findall(r"^strata \(([\d.]+)-\S+\)", changelog, re.M)[:1]
    assert {default_version(name) for name in EXTENSIONS} == {version}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout of git")
@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_zips_build_alone_and_are_the_same_twice(tmp_path):
    sums = []
    for number in (1, 2):
        out = tmp_path / str(number)
        subprocess.run(
            [ROOT / "ci/dist.sh", out], check=True, capture_output=True, text=True
        )
        sums.append(
            {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in out.iterdir()}
        )
    assert sums[0] == sums[1]
    assert [name.split("-")[0] for name in sorted(sums[0])] == EXTENSIONS
    for path in (tmp_path / "1").iterdir():
        names = zipfile.ZipFile(path).namelist()
        top = path.stem
        assert {f"{top}/{n}" for n in ("META.json", "README.md", "Makefile")} <= set(
            names
        )
        others = set(EXTENSIONS) - {top.split("-")[0]}
        assert not [n for n in names for o in others if f"/extensions/{o}/" in n]
