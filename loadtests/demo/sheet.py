"""The contact sheet: every picture of the scene on one PNG, framed by the colour of where it was made."""

import math
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from loadtests.demo.account import Account
from loadtests.demo.gallery import Exhibit
from loadtests.demo.script import Order

GROUND, INK, FAINT = "#15181d", "#eef1f5", "#8b95a3"
COLOURS = {"onprem": "#2bb39a", "external": "#f2a33a"}
MISSING = "#e5484d"
CELL, FRAME, GAP, MARGIN, HEAD = 104, 4, 6, 24, 96


def contact_sheet(exhibits: Sequence[Exhibit], orders: Sequence[Order], account: Account) -> Image.Image:
    """In the order in which the pictures were asked for; one that never came leaves a red frame."""
    columns = max(8, math.ceil(math.sqrt(len(orders) * 1.6)))
    rows = math.ceil(len(orders) / columns)
    pitch = CELL + GAP
    width, height = 2 * MARGIN + columns * pitch - GAP, 2 * MARGIN + HEAD + rows * pitch - GAP
    sheet = Image.new("RGB", (width, height), GROUND)
    draw = ImageDraw.Draw(sheet)
    _write_head(draw, width, account)
    shown = {exhibit.order.number: exhibit for exhibit in exhibits}
    for place, order in enumerate(orders):
        corner = (MARGIN + place % columns * pitch, MARGIN + HEAD + place // columns * pitch)
        _hang(sheet, draw, corner, shown.get(order.number))
    return sheet


def _hang(
    sheet: Image.Image, draw: ImageDraw.ImageDraw, corner: tuple[int, int], exhibit: Exhibit | None
) -> None:
    x, y = corner
    colour = MISSING if exhibit is None else COLOURS.get(exhibit.receipt.route, FAINT)
    draw.rounded_rectangle((x, y, x + CELL - 1, y + CELL - 1), radius=5, fill=colour)
    inner = CELL - 2 * FRAME
    if exhibit is None:
        draw.rectangle((x + FRAME, y + FRAME, x + CELL - FRAME - 1, y + CELL - FRAME - 1), fill=GROUND)
    else:
        small = exhibit.thumbnail.resize((inner, inner), Image.Resampling.LANCZOS)
        sheet.paste(small, (x + FRAME, y + FRAME))


def _write_head(draw: ImageDraw.ImageDraw, width: int, account: Account) -> None:
    large, small = ImageFont.load_default(30), ImageFont.load_default(18)
    draw.text((MARGIN, MARGIN - 4), "Spillover: one scene, every image", INK, large)
    facts = f"{account.requests} asked for, {account.lost} lost, {account.duplicates} twice"
    draw.text((MARGIN, MARGIN + 38), facts, FAINT, small)
    x = float(width - MARGIN)
    for words, colour in (
        (f"external  {account.external}  (${account.external_usd:.2f})", COLOURS["external"]),
        (f"on-prem  {account.onprem}", COLOURS["onprem"]),
    ):
        x -= draw.textlength(words, small)
        draw.text((x, MARGIN + 38), words, INK, small)
        draw.rounded_rectangle((x - 26, MARGIN + 41, x - 10, MARGIN + 57), radius=4, fill=colour)
        x -= 56
