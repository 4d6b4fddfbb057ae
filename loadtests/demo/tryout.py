"""What a person can do with the running demo: lines to paste into another terminal."""

from pathlib import Path

from loadtests.demo.operators import ADMIN_KEY
from loadtests.demo.stage import Stage
from loadtests.demo.traffic import KEY

TEXT = """
The demo keeps serving; Ctrl-C ends it. The keys below are public and open nothing else.

  replicas    {replicas}
  dashboard   {first}/dashboard
  report      {report}

Make an image:

  curl -s {first}/v1/images/generations -H "Authorization: Bearer {key}" \\
    -H "Content-Type: application/json" -d '{{"prompt": "a heron in the reeds"}}' | head -c 400

Claim two nodes, look, and give them back:

  export SPILLOVER_URL={first} SPILLOVER_KEY={admin_key}
  spillover claim node-1 node-2 --owner me --reason "trying it out" --grace 5
  spillover state
  spillover release CLAIM_ID
"""


def how_to_try(stage: Stage, out: Path) -> str:
    """The text at the end of a scene that keeps serving."""
    return TEXT.format(
        replicas="  ".join(stage.replicas),
        first=stage.replicas[0],
        report=out / "report.html",
        key=KEY,
        admin_key=ADMIN_KEY,
    )
