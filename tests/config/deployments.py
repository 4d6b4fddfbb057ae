"""A deployment with every block in it, ways to change one thing, and the loader called on text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from config.interpolation import Surroundings
from config.loading import Loaded, Refused, parse
from config.problems import Problem, read

CONFIG = Path(__file__).resolve().parents[2] / "config"
TODAY = date(2026, 6, 1)

# `#@ path` marks a line where one more key of that block can stand.
FULL = """\
#@
redis:
  #@ redis
  url: redis://store:6379/0
gateway:
  #@ gateway
  port: 8080
limits:
  #@ limits
  steps: 100
leases:
  #@ leases
  lease_s: 15
telemetry:
  #@ telemetry
  log_level: info
classes:
  standard:
    #@ classes.standard
    deadline_s: 60
tenants:
  product:
    #@ tenants.product
    request_class: standard
keys:
  - id: abcdefghijkl
    #@ keys[0]
    secret_sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    tenant: product
  - id: bcdefghijklm
    secret_sha256: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    tenant: product
nodes:
  node-1:
    #@ nodes.node-1
    rack: a
default_model: flux
models:
  flux:
    #@ models.flux
    home: house
    also: [annex]
    aliases: [flux-dev]
    size: 1024x1024
    steps: 28
    quality: {low: 10}
    profile:
      #@ models.flux.profile
      per_step_mp_s: 0.1
    loras:
      ink: /loras/ink
pools:
  house:
    #@ pools.house
    place: onprem
    dialect: openai_images
    settings: {server: sglang}
    models: {flux: flux-dev}
    workers:
      - id: w-1
        #@ pools.house.workers[0]
        node: node-1
        url: http://w1:8000
        loras: [ink]
      - id: w-2
        node: node-1
        url: http://w2:8000
  annex:
    place: onprem
    dialect: openai_images
    settings: {server: vllm_omni}
    models: {flux: flux-dev}
    workers:
      - id: w-3
        node: node-1
        url: http://w3:8000
  fal:
    #@ pools.fal
    place: external
    dialect: fal
    url: https://queue.example
    credential: ${FAL_KEY}
    daily_budget_usd: 50
    models:
      flux:
        #@ pools.fal.models.flux
        target: fal-ai/flux
        prices:
          - per_image_usd: 0.03
            #@ pools.fal.models.flux.prices[0]
            valid_from: 2026-01-01
        loras: {ink: https://example/ink}
overflow: [fal]
"""

ENVIRON = {"FAL_KEY": "id:very-secret"}


def outcome(
    text: str, environ: Mapping[str, str] = ENVIRON, files: Mapping[str, str] | None = None
) -> Loaded | Refused:
    """What the loader says to `text`."""

    def read_file(path: str) -> str:
        if files is None or path not in files:
            raise FileNotFoundError(2, "No such file or directory", path)
        return files[path]

    return parse(text, Surroundings(environ, read_file), TODAY)


def loaded(text: str, environ: Mapping[str, str] = ENVIRON, files: Mapping[str, str] | None = None) -> Loaded:
    found = outcome(text, environ, files)
    assert isinstance(found, Loaded), found
    return found


def problems(text: str, environ: Mapping[str, str] = ENVIRON) -> tuple[Problem, ...]:
    found = outcome(text, environ)
    assert isinstance(found, Refused), "the deployment was accepted"
    return found.problems


def only_problem(text: str, environ: Mapping[str, str] = ENVIRON) -> Problem:
    (problem,) = problems(text, environ)
    return problem


def changed(key: str, value: Any) -> str:
    """`FULL` with the value at `key` set; a key not there yet is added."""
    data = yaml.safe_load(FULL)
    path = read(key)
    assert path is not None
    holder = data
    for part in path[:-1]:
        holder = holder[part]
    if isinstance(holder, list) and path[-1] == len(holder):
        holder.append(value)
    else:
        holder[path[-1]] = value
    return yaml.safe_dump(data, sort_keys=False)


def without(key: str) -> str:
    """`FULL` without the value at `key`."""
    data = yaml.safe_load(FULL)
    path = read(key)
    assert path is not None
    holder = data
    for part in path[:-1]:
        holder = holder[part]
    del holder[path[-1]]
    return yaml.safe_dump(data, sort_keys=False)


def line_of(fragment: str, text: str = FULL) -> int:
    """The number of the only line of `text` with `fragment` in it."""
    (number,) = [i for i, line in enumerate(text.splitlines(), start=1) if fragment in line]
    return number
