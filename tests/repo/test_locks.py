"""The locks install the same bytes everywhere: exact versions, hashes, no address of any index or folder."""

from __future__ import annotations

import re

import pytest
from packaging.requirements import Requirement

from tests.repo.tree import direct_dependencies, normalised, pyproject, text

LOCKS = ["requirements.txt", "requirements-dev.txt", "requirements-build.txt"]
PIN = re.compile(r"^[a-z0-9][a-z0-9-]*==[A-Za-z0-9.!+]+( ; [^\\#]+)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")
FLOORS = {"starlette": "1.0.1", "h11": "0.16.0"}


def pins(lock: str) -> list[Requirement]:
    lines = [line.removesuffix(" \\") for line in text(lock).splitlines() if PIN.match(line)]
    return [Requirement(line) for line in lines]


def installed(lock: str, python: str, platform: str) -> dict[str, str]:
    """What this lock installs there: name to version."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "sys_platform": platform,
        "platform_python_implementation": "CPython",
    }
    return {
        pin.name: str(pin.specifier).removeprefix("==")
        for pin in pins(lock)
        if pin.marker is None or pin.marker.evaluate(environment)
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_pins_hashes_and_comments_only(lock: str) -> None:
    strange = [
        line
        for line in text(lock).splitlines()
        if not (PIN.match(line) or HASH.match(line) or re.match(r"^ *# ?[^:]*$|^# This file was auto", line))
    ]
    assert strange == []
    assert "://" not in text(lock)
    assert "/" not in "".join(re.findall(r"#.*", text(lock)))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock: str) -> None:
    entries = re.split(r"^(?=[a-z0-9])", text(lock), flags=re.MULTILINE)[1:]
    assert len(entries) == len(pins(lock)) > 0
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


@pytest.mark.parametrize("platform", ["linux", "darwin"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_the_locks_satisfy_the_project_and_agree(python: str, platform: str) -> None:
    runtime, dev, build = (installed(lock, python, platform) for lock in LOCKS)
    assert runtime.items() <= dev.items()
    assert build.items() <= dev.items()
    wanted = [Requirement(line) for line in pyproject()["project"]["dependencies"]]
    assert [
        r.name for r in wanted if not r.specifier.contains(runtime[normalised(r.name)], prereleases=True)
    ] == []
    missing = [
        line
        for name, line in direct_dependencies().items()
        if not Requirement(line).specifier.contains(dev[name], prereleases=True)
    ]
    assert missing == []


def test_known_holes_are_closed() -> None:
    runtime = installed("requirements.txt", "3.11", "linux")
    for name, floor in FLOORS.items():
        assert Requirement(f"x>={floor}").specifier.contains(runtime[name])


def test_the_build_lock_covers_the_build_system() -> None:
    build = installed("requirements-build.txt", "3.13", "linux")
    for line in pyproject()["build-system"]["requires"]:
        requirement = Requirement(line)
        assert requirement.specifier.contains(build[requirement.name])
