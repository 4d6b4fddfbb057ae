"""What a person can do with the running demo: lines to paste into another terminal."""

import sys
from pathlib import Path

from loadtests.demo.operators import ADMIN_KEY
from loadtests.demo.stage import Stage
from loadtests.demo.traffic import KEY

TEXT = """
The demo keeps serving at {replicas}. Ctrl-C ends it.
In another terminal, make an image:

  curl -s {first}/v1/images/generations \\
    -H "Authorization: Bearer {key}" \\
    -H "Content-Type: application/json" \\
    -d '{{"prompt": "a lighthouse at dusk", "seed": 7}}' -o answer.json -D -

Claim two nodes for training, look, and give them back:

  export SPILLOVER_URL={first}
  export SPILLOVER_ADMIN_KEY={admin_key}
  {spillover} claim node-1 node-2 --owner me --reason "trying it out" --grace 5 --wait held
  {spillover} state
  {spillover} release --owner me

Both keys are public and open nothing else.{more}"""
DASHBOARD = "\n\nTo watch it: {first}/dashboard"


def how_to_try(stage: Stage, has_dashboard: bool) -> str:
    """The text at the end of a scene that keeps serving."""
    first = stage.replicas[0]
    return TEXT.format(
        replicas=" and ".join(stage.replicas),
        first=first,
        key=KEY,
        admin_key=ADMIN_KEY,
        spillover=_spillover(),
        more=DASHBOARD.format(first=first) if has_dashboard else "",
    )


def _spillover() -> str:
    """How the command is called from here: it is on the path only where its environment is active."""
    script = Path(sys.executable).with_name("spillover")
    if not script.exists():
        return f"{sys.executable} -m router.cli"
    return str(script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script)
