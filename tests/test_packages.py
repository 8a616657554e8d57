"""What packages say of the extensions agrees with what these are."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

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


def test_changelog_goes_by_versions():
    """Newest first, what is not released yet above; each change once, in one line."""
    text = (ROOT / "CHANGELOG.md").read_text()
    head, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    assert head == "# Changelog\n\n"
    titles = [section.split("\n", 1)[0] for section in rest]
    assert titles[0] == "Unreleased"
    versions = [
        re.fullmatch(r"(\d+)\.(\d+) \(\d{4}-\d\d-\d\d\)", t) for t in titles[1:]
    ]
    assert versions and all(versions), titles
    numbers = [(int(v[1]), int(v[2])) for v in versions]
    assert numbers == sorted(set(numbers), reverse=True)
    lines = [line for section in rest for line in section.splitlines()[1:] if line]
    assert [line for line in lines if not re.match(r"- [A-Z]", line)] == []
    assert len(set(lines)) == len(lines)


needs_git = pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("git") is None,
    reason="not a checkout of git",
)


@needs_git
def test_release(tmp_path):
    """One command makes a version, or refuses and changes nothing."""
    tree = tmp_path / "tree"
    who = {f"GIT_{role}_{what}": "a@b.invalid" for role in ("AUTHOR", "COMMITTER")
           for what in ("NAME", "EMAIL")}  # fmt: skip
    env = os.environ | who

    def run(*command: str, check: bool = True) -> subprocess.CompletedProcess:
        return subprocess.run(
            command, cwd=tree, env=env, check=check, capture_output=True, text=True
        )

    subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}/.git", "clone", "-q", ROOT, tree],
        check=True,
    )
    shutil.copy(ROOT / "ci/release.sh", tree / "ci/release.sh")
    run("git", "commit", "-qam", "as it is here", check=False)
    (old,) = {default_version(name) for name in EXTENSIONS}
    refused = run("ci/release.sh", "7.0", check=False)
    assert refused.returncode != 0
    assert f"no script colcompress--{old}--7.0.sql" in refused.stderr
    assert run("git", "status", "--porcelain").stdout == ""

    for name in EXTENSIONS:
        makefile = tree / "extensions" / name / "Makefile"
        script = f"{name}--{old}--7.0.sql"
        makefile.write_text(makefile.read_text() + f"# DATA += {script}\n")
    refused = run("ci/release.sh", "7.0", check=False)
    assert refused.returncode != 0 and "not committed" in refused.stderr
    run("git", "commit", "-qam", "scripts")
    run("ci/release.sh", "7.0")
    assert run("git", "status", "--porcelain").stdout == ""
    assert run("git", "describe", "--tags").stdout.strip() == "v7.0"
    for name in EXTENSIONS:
        control = (tree / "extensions" / name / f"{name}.control").read_text()
        assert "default_version = '7.0'" in control
        meta = json.loads((tree / "extensions" / name / "META.json").read_text())
        assert meta["version"] == meta["provides"][name]["version"] == "7.0.0"
        assert meta["meta-spec"]["version"] == "1.0.0"
    assert "## Unreleased\n\n## 7.0 (" in Path(tree / "CHANGELOG.md").read_text()
    assert (tree / "debian/changelog").read_text().startswith("strata (7.0-")


@pytest.mark.slow
@needs_git
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
