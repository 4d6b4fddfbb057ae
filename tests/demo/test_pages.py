"""What is drawn: the terminal's chart, the diagram, the report and the contact sheet."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from loadtests.demo.account import account_of
from loadtests.demo.chart import HEIGHT, chart_of
from loadtests.demo.children import Children
from loadtests.demo.deployment import read_deployment
from loadtests.demo.diagram import diagram
from loadtests.demo.figures import Sample, Timeline, bands_of
from loadtests.demo.gallery import Exhibit
from loadtests.demo.report import page
from loadtests.demo.script import Order
from loadtests.demo.sheet import COLOURS, MISSING, contact_sheet
from loadtests.demo.stage import BackEnds, Stage
from loadtests.demo.tryout import how_to_try
from tests.demo.evidence import CLAIM, bill, evidence, receipt, worker_rows

BANDS = bands_of(CLAIM, 100.0, 130.0)
TIMELINE = Timeline(
    100.0, (6,) * 30, (6,) * 12 + (2,) * 8 + (8,) * 10, (0,) * 12 + (4,) * 8 + (0,) * 10, (0.0,) * 30
)
SAMPLES = [Sample(100.0 + at, at % 7, 5, 0, 1, 1, 1, 2, "") for at in range(30)]
ORDERS = [Order(n, n / 6, 0, f'a <b>"bold"</b> & wide no. {n}', n, 8, "interactive") for n in range(3)]


def exhibits() -> list[Exhibit]:
    """The second order never got its picture."""
    white = Image.new("RGB", (128, 128), "white")
    return [
        Exhibit(ORDERS[0], receipt(0, "a"), white, "0000-onprem.png"),
        Exhibit(ORDERS[2], receipt(2, "c", "external", attempts=2), white, "0002-external.png"),
    ]


def test_the_chart_stacks_external_above_onprem_and_marks_the_claim() -> None:
    lines = chart_of(TIMELINE, BANDS, 80).plain.splitlines()
    columns = [line[6:].ljust(30) for line in lines[:HEIGHT]]
    assert columns[-1] == "█" * 30
    assert "".join(row[15] for row in reversed(columns)) == "██▒▒▒▒  "
    assert lines[HEIGHT + 1] == "claim " + " " * 10 + "ddddd" + "HHHHH" + " " * 10
    assert "0s        10s       20s" in lines[HEIGHT + 2]


@pytest.mark.parametrize("width", [20, 40, 80])
def test_the_chart_fits_the_width(width: int) -> None:
    chart = chart_of(TIMELINE, BANDS, width).plain.splitlines()
    assert all(len(line.rstrip()) <= width for line in chart[: HEIGHT + 2])


def test_a_single_external_image_is_seen() -> None:
    one = Timeline(100.0, (9,), (40,), (1,), (0.03,))
    assert "▒" in chart_of(one, (), 80).plain.splitlines()[0]


def test_the_diagram_is_well_formed() -> None:
    for samples in (SAMPLES, SAMPLES[:1], []):
        root = ElementTree.fromstring(diagram(TIMELINE, BANDS, samples))  # noqa: S314 (our own text)
        bars = [element for element in root if element.get("class") == "external"]
        assert len(bars) == 8
        assert "nan" not in ElementTree.tostring(root, "unicode")


def test_the_report_is_one_file_and_escapes_prompts() -> None:
    seen = evidence([receipt(0, "a"), receipt(2, "c", "external")], worker_rows("a", 100, 101), [bill("c")])
    html = page(exhibits(), ORDERS, seen, SAMPLES, account_of(seen))
    assert not re.search(r"""(src|href)=["'](?!data:)|url\(|@import|<script""", html)
    assert "<b>&quot;" not in html
    assert "a &lt;b&gt;&quot;bold&quot;" in html
    assert html.count("<figure") == 3
    assert html.count('<figure class="missing"') == 1
    assert html.count('<figure class="external moved"') == 1
    assert "Broken promises" in html
    assert "$" not in re.sub(r"\$\d", "", re.sub(r"base64,[^\"]*", "", html))


def test_the_contact_sheet_frames_by_place() -> None:
    sheet = contact_sheet(exhibits(), ORDERS, account_of(evidence([])))
    colours = {"#%02x%02x%02x" % pixel for _, pixel in sheet.getcolors(1 << 20) or []}  # noqa: UP031
    assert colours >= {COLOURS["onprem"], COLOURS["external"], MISSING}


def test_the_lines_to_try_name_the_first_replica(tmp_path: Path) -> None:
    back_ends = BackEnds((), "http://127.0.0.1:9200", tmp_path, tmp_path)
    replicas = ("http://127.0.0.1:8080", "http://127.0.0.1:8081")
    stage = Stage(read_deployment(), back_ends, replicas, "redis://127.0.0.1:6379/0", Children(tmp_path))
    text = how_to_try(stage, has_dashboard=False)
    assert "curl -s http://127.0.0.1:8080/v1/images/generations" in text
    assert "export SPILLOVER_URL=http://127.0.0.1:8080\n" in text
    assert "8081" in text.splitlines()[1]
    assert "/dashboard" not in text
    assert "http://127.0.0.1:8080/dashboard" in how_to_try(stage, has_dashboard=True)


def test_the_facts_of_the_deployment() -> None:
    deployment = read_deployment()
    assert deployment.slots == 8
    assert deployment.nodes == ("node-1", "node-2", "node-3", "node-4")
    assert deployment.node_of["worker-0"] == "node-1"
    assert deployment.node_of["worker-7"] == "node-4"
    assert deployment.usd_each == 0.03
