"""The course as a learner meets it: `course lab`, its JupyterLab and a real Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import pytest

from course_utils.lessons import lesson

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "notebooks" / "01_what_gradients_are.ipynb"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]

pytestmark = [
    pytest.mark.turns,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install Debian's package chromium"),
]

WRONG = """\
def numerical_gradient(f, x, h=1e-5):
    return torch.ones_like(x) * (f(x + h) - f(x - h)) / (2 * h)
"""
RIGHT = """\
def numerical_gradient(f, x, h=1e-5):
    slopes = []
    for position in range(x.numel()):
        step = torch.zeros(x.numel(), dtype=x.dtype, device=x.device)
        step[position] = h
        step = step.reshape(x.shape)
        slopes.append((f(x + step) - f(x - step)) / (2 * h))
    return torch.stack(slopes).reshape(x.shape)
"""


TRIAL = "trial.ipynb"
"""A notebook of the longest question, a quiz and every explorer: what must outlive its kernel and fit a narrow page."""


def _trial() -> str:
    longest = max(lesson(1).questions, key=lambda q: max(map(len, q.choices.values())) if q.kind == "prediction" else 0)
    cells = ["import torch\nfrom course_utils import *\nfrom course_utils.widgets import *", f"predict({longest.id!r})"]
    cells += ["quiz('1.q1')", "loss_surface()", "expression_graph()", "gradient_buffer()", "order_of_events()"]
    cells += ["windows_of_training()", "underflow_line([torch.logspace(-9, 1, 60)])"]
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return nbformat.writes(made)


@dataclass(frozen=True)
class Lab:
    """A running `course lab`: its address, the folder it serves, and how it is started once more."""

    address: str
    workbook: Path
    again: Callable[[], str]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The course with lesson 1 and the trial, opened by `course lab`."""
    root, settings = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("settings")
    (root / "pyproject.toml").write_text('name = "gradient-ledger"\n')
    (root / "notebooks").mkdir()
    shutil.copy(NOTEBOOK, root / "notebooks")
    (root / "notebooks" / TRIAL).write_text(_trial(), encoding="utf-8")
    tracker = settings / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    tracker.parent.mkdir(parents=True)
    tracker.write_text(json.dumps({"windowingMode": "none"}))  # every cell is in the page, also out of sight
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "course_utils.cli", "lab", "--no-browser", f"--port={port}", "--"]
    command += ["--ServerApp.token=", "--ServerApp.password=", "--ServerApp.disable_check_xsrf=True"]
    command += [f"--LabApp.user_settings_dir={settings}", "--LabApp.news_url="]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    environment = {**os.environ, "JUPYTERLAB_WORKSPACES_DIR": str(settings), "PYTHONPATH": str(ROOT)}
    environment["JUPYTER_RUNTIME_DIR"] = str(settings)
    environment.pop("COURSE_HOME", None)

    def again() -> str:
        done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, timeout=60)
        return done.stdout + done.stderr

    with open(root / "server.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=root)
    address = f"http://localhost:{port}"
    try:
        for _ in range(120):
            if process.poll() is not None:
                pytest.fail("JupyterLab ended at once:\n" + (root / "server.log").read_text()[-2000:])
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail("JupyterLab did not answer within a minute")
        yield Lab(address, root / "workbook", again)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


class Notebook:
    """An open notebook, with its cells found by what stands in them."""

    def __init__(self, page: Any, path: Path) -> None:
        self.page = page
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        self.sources = ["".join(cell["source"]) for cell in cells]
        self.ids = {cell["id"]: index for index, cell in enumerate(cells)}
        page.wait_for_selector(f'.jp-Notebook-cell[data-windowed-list-index="{len(cells) - 1}"]', timeout=90_000)
        idle = '.jp-Notebook-ExecutionIndicator[data-status="idle"]'
        page.wait_for_selector(idle, state="attached", timeout=60_000)

    def cell(self, index: int) -> Any:
        return self.page.locator(f'.jp-Notebook-cell[data-windowed-list-index="{index}"]')

    def with_source(self, start: str) -> Any:
        return self.cell(next(i for i, source in enumerate(self.sources) if source.startswith(start)))

    def run(self, index: int) -> None:
        """Run one cell and wait until it is done."""
        from playwright.sync_api import expect

        prompt = self.cell(index).locator(".jp-InputPrompt").first
        before = prompt.inner_text()
        for _ in range(20):
            prompt.click()
            self.page.keyboard.press("Control+Enter")
            with suppress(AssertionError):  # JupyterLab may take the focus once more while it opens
                expect(prompt).not_to_have_text(before, timeout=3_000)
                break
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=60_000)

    def run_all(self) -> None:
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    def write(self, index: int, source: str) -> None:
        """Replace a cell's source by typing."""
        self.cell(index).locator(".cm-content").first.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(source)

    def text(self, index: int) -> str:
        return self.cell(index).locator(".jp-Cell-outputArea").inner_text()

    def scrolls_sideways(self) -> list[str]:
        """What of the notebook is wider than its room."""
        return self.page.evaluate(
            """() => [...document.querySelectorAll('.jp-Notebook *')].filter(element =>
                element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 2
                && getComputedStyle(element).overflowX !== 'visible'
            ).map(element => `${element.className}: ${element.innerText.slice(0, 80)}`)"""
        )


def serious_faults(page: Any) -> str:
    """Serious faults of accessibility in what the course renders, contrast among them."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, context={"include": [[".jp-OutputArea-output"]]})
    serious = [fault for fault in found.response["violations"] if fault["impact"] in ("serious", "critical")]
    return "\n".join(f"{f['id']}: {f['help']}: {f['nodes'][0]['html'][:300]}" for f in serious)


def test_a_learner_predicts_runs_fails_and_passes(lab: Lab, browser: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    shots = Path(os.environ.get("COURSE_SCREENSHOTS") or tmp_path)
    page = browser.new_page(viewport={"width": 1280, "height": 1400})

    # JupyterLab opens on the start page, and a second `course lab` finds it.
    page.goto(lab.address)
    page.locator(".jp-MarkdownViewer table").wait_for(timeout=90_000)
    page.screenshot(path=shots / "start.png")
    assert f"{lab.address}/lab/tree/00_start.md" in lab.again()
    page.locator(".jp-MarkdownViewer p", has_text="Next step").get_by_role("link").click()
    work = lab.workbook / NOTEBOOK.name
    notebook = Notebook(page, work)

    # Opening is not touching.
    handed = work.read_bytes()
    assert page.locator(".lm-TabBar-tab.jp-mod-dirty").count() == 0
    page.keyboard.press("Control+S")
    assert page.get_by_role("heading", name="Lesson 1: ").count() == 1

    # A prediction is committed by keyboard, before anything else has run, and the keyboard stays where it is.
    notebook.run(notebook.ids["setup"])
    assert work.read_bytes() == handed
    first = next(i for i, source in enumerate(notebook.sources) if source.startswith("predict("))
    notebook.run(first)
    ask = notebook.cell(first)
    ask.get_by_role("button", name="a", exact=True).focus(timeout=60_000)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(ask.get_by_role("status")).to_contain_text("Committed: b")
    expect(ask.get_by_role("button", name="b", exact=True)).to_be_focused()
    page.keyboard.press("a")  # a command of JupyterLab: a cell above
    assert page.locator(".jp-Notebook-cell").count() == len(notebook.sources)

    # All cells run from top to bottom, unsolved, and the commitment is still there.
    notebook.run_all()
    last = max(i for i, source in enumerate(notebook.sources) if source.startswith("progress("))
    expect(notebook.cell(last).locator(".jp-Cell-outputArea")).to_contain_text("Your progress", timeout=120_000)
    assert "0 of 100" in notebook.text(last)
    expect(notebook.cell(first).get_by_role("status")).to_contain_text("Committed")
    assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
    assert any(
        "You predicted" in notebook.text(i)
        for i in range(first, first + 3)
        if notebook.sources[i].find("compare(") >= 0
    )

    # A wrong answer is named; the right one brings the points.
    answer, verdict = notebook.ids["exercise-1-1"], notebook.ids["check-1-1"]
    assert "NOT ATTEMPTED" in notebook.text(verdict)
    notebook.write(answer, WRONG)
    notebook.run(answer)
    notebook.run(verdict)
    expect(notebook.cell(verdict).locator("section")).to_contain_text("moved-all-entries")
    notebook.cell(verdict).scroll_into_view_if_needed()
    page.screenshot(path=shots / "wrong.png")
    notebook.write(answer, RIGHT)
    notebook.run(answer)
    notebook.run(verdict)
    expect(notebook.cell(verdict).locator("section")).to_contain_text("PASSED")
    notebook.run(last)
    expect(notebook.cell(last).locator(".jp-Cell-outputArea")).to_contain_text("20 of 100")
    page.screenshot(path=shots / "right.png")

    # Nothing scrolls sideways, and what the course renders has no serious accessibility fault.
    page.keyboard.press("Control+B")  # the file browser goes
    for width in (1000, 800):
        page.set_viewport_size({"width": width, "height": 1400})
        assert notebook.scrolls_sideways() == []
    notebook.cell(verdict).scroll_into_view_if_needed()
    page.screenshot(path=shots / "narrow.png")
    assert serious_faults(page) == ""
    page.close()


def test_questions_and_explorers_fit_the_page_and_outlive_their_kernel(lab: Lab, browser: Any, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    shots = Path(os.environ.get("COURSE_SCREENSHOTS") or tmp_path)
    page = browser.new_page(viewport={"width": 1280, "height": 1400})
    page.goto(f"{lab.address}/lab/tree/{TRIAL}?reset")
    notebook = Notebook(page, lab.workbook / TRIAL)
    notebook.run(0)
    page.keyboard.press("Control+B")  # the file browser goes
    notebook.run_all()
    ask, surface = notebook.with_source("predict("), notebook.with_source("loss_surface(")
    graph, ledger = notebook.with_source("expression_graph("), notebook.with_source("gradient_buffer(")
    for name in ("backward()", "backward()", "zero_grad(set_to_none=False)", "step()"):
        ledger.get_by_role("button", name=name, exact=True).click(timeout=60_000)
    expect(ledger.locator("tbody tr:visible")).to_have_count(4)
    order = notebook.with_source("order_of_events(")
    for name in ("forward", "backward()", "step()", "Run"):
        order.get_by_role("button", name=name, exact=True).click(timeout=60_000)
    expect(order.get_by_role("status")).to_contain_text("Steps 2 to 6 used passes that an earlier step had used")
    expect(order.locator("tbody tr:visible")).to_have_count(6)
    expect(surface.locator("img:visible")).to_have_count(1)
    windows, scales = notebook.with_source("windows_of_training("), notebook.with_source("underflow_line(")
    expect(windows.get_by_role("status")).to_contain_text("rule leak. Steps 3, 5 mixed batches of several epochs.")
    for name in ("fewer batches", "fewer batches", "own division"):
        windows.get_by_role("button", name=name, exact=True).click(timeout=60_000)
    expect(windows.get_by_role("status")).to_contain_text("8 batches an epoch, windows of 4, rule own division. Right:")
    expect(windows.locator("tbody tr:visible")).to_have_count(6)
    expect(scales.get_by_role("status")).to_contain_text("Scale 2**0 in float16")
    for name in ("Times 256", "Double it"):
        scales.get_by_role("button", name=name, exact=True).click(timeout=60_000)
    expect(scales.get_by_role("status")).to_contain_text("Scale 2**9 in float16")

    # No word lies on another and nothing scrolls sideways; a picture keeps its place while it changes.
    tops = "element => [...element.querySelectorAll('li, button')].map(e => e.getBoundingClientRect().top)"
    bottoms = "element => [...element.querySelectorAll('li')].map(e => e.getBoundingClientRect().bottom)"
    for width in (1000, 800, 600):
        page.set_viewport_size({"width": width, "height": 1400})
        below, above = ask.evaluate(tops)[1:], ask.evaluate(bottoms)
        assert all(next_one >= end for next_one, end in zip(below, above, strict=False)) and len(below) > 3
        if width > 600:
            assert notebook.scrolls_sideways() == []
    page.screenshot(path=shots / "trial-600.png", full_page=True)
    where = graph.evaluate("element => element.offsetHeight")
    for _ in range(3):
        graph.get_by_role("button", name="Next").click()
    expect(graph.get_by_role("status")).to_contain_text("Step 3 of")
    assert graph.evaluate("element => element.offsetHeight") == where

    # Slider and field agree, however the rate is changed.
    field, handle = surface.locator("input"), surface.locator(".noUi-handle")
    handle.focus()
    page.keyboard.press("ArrowRight")
    expect(field).to_have_value("0.21")
    expect(surface.get_by_role("status")).to_contain_text("Next step = -0.21 *")
    surface.get_by_role("button", name="Halve it").click()
    expect(field).to_have_value("0.105")
    expect(surface.get_by_role("status")).to_contain_text("Next step = -0.105 *")
    assert float(handle.get_attribute("aria-valuetext")) == pytest.approx(0.105, abs=0.006)  # the nearest notch

    # The page keeps what was committed. After a restart the buttons are dead, and the page says what to run.
    ask.get_by_role("button", name="a", exact=True).click()
    expect(ask.get_by_role("status")).to_contain_text("Committed: a")
    told = page.get_by_text("Run the first code cell of the notebook, then this one.")
    expect(told.first).not_to_be_visible()
    page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.locator('.lm-Menu-item[data-command="kernelmenu:restart"]').click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    ask.locator("button.jupyter-widgets-disconnected").last.click(timeout=60_000)
    for index in range(8):
        expect(told.nth(index)).to_be_visible()
    page.screenshot(path=shots / "trial-restarted.png", full_page=True)

    # Saved, its kernel shut down, opened again, in the dark: complete, readable, without a word of missing models.
    page.keyboard.press("Control+S")
    expect(page.locator(".lm-TabBar-tab.jp-mod-dirty")).to_have_count(0)
    for session in page.request.get(f"{lab.address}/api/sessions").json():
        page.request.delete(f"{lab.address}/api/sessions/{session['id']}")
    dark = {"raw": json.dumps({"theme": "JupyterLab Dark"})}
    page.request.put(f"{lab.address}/lab/api/settings/@jupyterlab/apputils-extension:themes", data=dark)
    page.goto(f"{lab.address}/lab/tree/{TRIAL}?reset")
    Notebook(page, lab.workbook / TRIAL)
    assert not any(one.is_visible() for one in page.get_by_text("Loading widget").all())
    missing = page.get_by_text("model not found")
    expect(missing).to_have_count(8, timeout=60_000)
    assert not any(one.is_visible() for one in missing.all())
    expect(ask.locator("li:visible").first).to_be_visible()
    expect(ask).to_contain_text("Committed: a")
    expect(ask).not_to_contain_text("In code")
    expect(ledger.locator("tbody tr:visible")).to_have_count(4)  # the learner's presses
    expect(ledger).not_to_contain_text("An example")
    for explorer in (windows, scales):
        expect(explorer.locator("tbody tr:visible")).not_to_have_count(0)
    for explorer in (surface, graph):
        expect(explorer.locator("img[alt]:visible")).to_have_count(1)
    for index in range(8):
        expect(told.nth(index)).to_be_visible()
    assert page.evaluate("() => document.body.dataset.jpThemeLight") == "false"
    assert serious_faults(page) == ""
    page.screenshot(path=shots / "trial-reopened-dark.png", full_page=True)
    page.close()
