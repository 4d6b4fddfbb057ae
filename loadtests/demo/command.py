"""`spillover demo`: reads the options; everything heavy is imported when they make sense."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

SHORTEST_S = 12.0


@app.command()
def demo(
    rate: Annotated[float, typer.Option(min=4.0, max=8.0, help="Images asked for each second.")] = 6.8,
    images: Annotated[int, typer.Option(min=1, max=5000, help="Images asked for in all.")] = 240,
    seed: Annotated[int, typer.Option(min=0, help="Of prompts, seeds and service times.")] = 7,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Of the first replica; 0: any.")] = 8080,
    out: Annotated[Path, typer.Option(file_okay=False, help="Where images and report go.")] = Path(
        "demo-out"
    ),
    once: Annotated[
        bool, typer.Option("--once/--keep", help="Exit after the scene with its verdict, or keep serving.")
    ] = False,
    json_path: Annotated[
        Path | None, typer.Option("--json", dir_okay=False, help="Write the account there.")
    ] = None,
) -> None:
    """Play the main job on this machine: traffic, a claim amid it, overflow, and no image lost."""
    if images / rate < SHORTEST_S:
        fewest = int(SHORTEST_S * rate + 0.999)
        raise typer.BadParameter(
            f"the scene needs {SHORTEST_S:g} s of traffic: at least {fewest} at this rate",
            param_hint="--images",
        )
    from loadtests.demo.evening import Wishes, run

    wishes = Wishes(rate, images, seed, port, out.resolve(), once, json_path and json_path.resolve())
    raise typer.Exit(run(wishes))


if __name__ == "__main__":
    app()
