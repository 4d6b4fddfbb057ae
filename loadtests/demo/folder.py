"""The folder that a run leaves behind. What an earlier run left there is removed, and nothing else."""

from pathlib import Path

OURS = ("images/[0-9]*-*.png", "logs/*.log", "logs/*.jsonl", "contact-sheet.png", "report.html")


def prepared(out: Path) -> None:
    """Make it and its subfolders."""
    for pattern in OURS:
        for old in out.glob(pattern):
            old.unlink()
    for folder in ("images", "logs"):
        (out / folder).mkdir(parents=True, exist_ok=True)
