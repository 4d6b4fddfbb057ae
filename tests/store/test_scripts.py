"""What holds for the text of every script, whatever it does."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from router.store import keys, scripts

FOLDER = files("router.store") / "lua"
SOURCES = {
    entry.name: entry.read_text(encoding="utf-8") for entry in FOLDER.iterdir() if entry.name.endswith(".lua")
}
OPERATIONS = sorted(name for name in SOURCES if not name.startswith("_"))
ALLOWED = """
EXPIRE GET HDEL HEXISTS HGET HGETALL HINCRBY HMGET HSET HVALS PUBLISH SET TIME XADD ZADD ZCARD ZLEXCOUNT
ZRANDMEMBER ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZREM ZREMRANGEBYSCORE ZSCORE
"""
"""Commands that scripts use; all of them are in Redis 7.0 with the options used here."""
PLAIN = {"HDEL", "HGET", "HGETALL", "HKEYS", "HSET", "HVALS", "XREVRANGE"}
"""Commands that the wrappers call by themselves."""

CALL = re.compile(r"redis\.p?call\('(\w+)'(?:,\s*([^,()]+|\(string\.gsub\([^)]*\)\)))?")
OF_A_KEY = re.compile(r"(?<!function )\b(record|keep|under|count|number)\(([\w\[\]]+)")
CONSTANT = re.compile(r"[A-Z_]+|KEYS\[\d\]")


def code(source: str) -> str:
    return "\n".join(line.split("--")[0] for line in source.splitlines())


def header(source: str) -> str:
    lines = source.splitlines()
    return "\n".join(lines[: next(n for n, line in enumerate(lines) if not line.startswith("--"))])


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_a_script_is_short_and_says_what_it_does(name: str) -> None:
    source = SOURCES[name]
    lines = source.splitlines()
    assert len(lines) <= 60
    assert max(map(len, lines)) <= 110
    assert lines[0].startswith("-- Part: " if name.startswith("_") else "-- ")


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operations_header_is_complete(name: str) -> None:
    source = SOURCES[name]
    head = header(source)
    assert "-- reply" in head, "no word about the reply"
    assert ("-- ARGV" in head) == ("ARGV" in code(source))
    assert ("-- KEYS" in head) != ("-- use: pool" in head), "its keys are the pool's table, or its own"
    named = re.findall(r"ARGV\[(\d+)\]", code(source))
    assert len(re.findall(r"^-- ARGV", head, re.M)) <= 1
    listed = re.search(r"^-- ARGV  (.*(?:\n--       .*)*)", head, re.M)
    if named and listed:
        assert max(map(int, named)) <= listed[1].count(",") + 1


@pytest.mark.parametrize("script", scripts.load().values(), ids=lambda script: script.name)
def test_a_script_begins_with_its_engine(script: scripts.Script) -> None:
    first = script.text.splitlines()[0]
    assert first in ("#!lua", "#!lua flags=allow-oom")
    assert script.text.count("#!lua") == 1


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_only_commands_of_redis_seven_are_used(name: str) -> None:
    used = {command for command, _ in CALL.findall(code(SOURCES[name]))}
    assert used <= set(ALLOWED.split())
    assert code(SOURCES[name]).count("redis.call(") == len(CALL.findall(code(SOURCES[name])))
    assert "redis.pcall" not in code(SOURCES[name])
    assert "server." not in code(SOURCES[name]), "the name that only Valkey knows"


def test_only_commands_of_redis_seven_are_used_beside_scripts() -> None:
    used = set()
    for entry in files("router.store").iterdir():
        if entry.name.endswith(".py"):
            used |= set(re.findall(r"\.command\(\s*\"(\w+)\"", entry.read_text(encoding="utf-8")))
    assert used <= PLAIN


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_key_is_declared(name: str) -> None:
    """The first argument of a command is one of KEYS, or the parameter of a function that is given one."""
    source = code(SOURCES[name])
    for command, key in CALL.findall(source):
        if command in ("TIME", "PUBLISH"):
            continue
        inside_a_part = name in ("_pool.lua", "accounts.lua") and key == "key"
        a_day = name == "_overdue.lua" and key == "day" and "and DAY_BEFORE or DAY" in source
        assert CONSTANT.fullmatch(key) or inside_a_part or a_day, f"{command} {key}"
    for function, key in OF_A_KEY.findall(source):
        assert CONSTANT.fullmatch(key) or key == "key", f"{function}({key})"


def test_the_table_of_keys_is_the_one_that_scripts_name() -> None:
    names = re.findall(r"local ([A-Z, ]+) = ((?:KEYS\[\d+\](?:, )?)+)", SOURCES["_pool.lua"])
    in_order = []
    for left, right in names:
        numbers = [int(number) for number in re.findall(r"\d+", right)]
        in_order += list(zip(numbers, left.split(", "), strict=True))
    assert [name.lower() for _, name in sorted(in_order)] == list(keys.POOL)
    assert [number for number, _ in sorted(in_order)] == list(range(1, len(keys.POOL) + 1))


def test_every_key_of_the_table_is_explained() -> None:
    explained = re.findall(r"^\| \{(\w+)\}:([\w:-]+)", keys.__doc__ or "", re.M)
    pool = {part for tag, part in explained if tag == "pool"}
    assert pool == {*keys.POOL, "wake"}
    assert {part for tag, part in explained if tag == "money"} == {
        "intents",
        "running",
        "expiry",
        "accounts",
        "day:YYYY-MM-DD",
    }


def test_keys_of_one_pool_share_their_hash_tag() -> None:
    tags = {re.findall(r"\{(.*?)\}", key)[0] for key in (*keys.pool("x"), keys.wake_channel("x"))}
    assert tags == {"pool:x"}
