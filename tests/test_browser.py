"""Lesson 1 as a learner meets it: a real JupyterLab in a real Chromium."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOK = ROOT / "notebooks" / "01_what_gradients_are.ipynb"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium on this machine: install Debian's package chromium"
)

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


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A JupyterLab on a folder with the student notebook of lesson 1; gives its address."""
    folder = tmp_path_factory.mktemp("workbook")
    shutil.copy(NOTEBOOK, folder)
    settings = tmp_path_factory.mktemp("settings")
    tracker = settings / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    tracker.parent.mkdir(parents=True)
    tracker.write_text(json.dumps({"windowingMode": "none"}))  # every cell is in the page, also out of sight
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.token=", "--ServerApp.password=", f"--ServerApp.root_dir={folder}"]
    command += [f"--LabApp.user_settings_dir={settings}", "--LabApp.news_url=", "--LabApp.check_for_updates_class="]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    environment = {**os.environ, "COURSE_HOME": str(folder / ".course"), "JUPYTERLAB_WORKSPACES_DIR": str(settings)}
    with open(folder / "server.log", "w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=folder)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(120):
            if process.poll() is not None:
                pytest.fail("JupyterLab ended at once:\n" + (folder / "server.log").read_text()[-2000:])
            try:
                urllib.request.urlopen(f"{address}/api/status", timeout=2).close()
                break
            except OSError:
                time.sleep(0.5)
        else:
            pytest.fail("JupyterLab did not answer within a minute")
        yield address
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


class Lesson:
    """The open notebook, with its cells found by what stands in them."""

    def __init__(self, page) -> None:
        self.page = page
        cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
        self.sources = ["".join(cell["source"]) for cell in cells]
        self.ids = {cell["id"]: index for index, cell in enumerate(cells)}

    def cell(self, index: int):
        return self.page.locator(f'.jp-Notebook-cell[data-windowed-list-index="{index}"]')

    def run(self, index: int) -> None:
        """Run one cell and wait until it is done."""
        cell = self.cell(index)
        cell.locator(".jp-InputPrompt").first.click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            """index => {
                const cell = document.querySelector(`.jp-Notebook-cell[data-windowed-list-index="${index}"]`);
                const prompt = cell.querySelector('.jp-InputPrompt').textContent;
                return /\\[\\d+\\]/.test(prompt);
            }""",
            arg=index,
            timeout=60_000,
        )

    def write(self, index: int, source: str) -> None:
        """Replace a cell's source by typing."""
        self.cell(index).locator(".cm-content").first.click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(source)

    def text(self, index: int) -> str:
        return self.cell(index).locator(".jp-Cell-outputArea").inner_text()


def test_a_learner_predicts_runs_fails_and_passes(server: str, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import expect, sync_playwright

    shots = Path(os.environ.get("COURSE_SCREENSHOTS") or tmp_path)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1400})
        page.goto(f"{server}/lab/tree/{NOTEBOOK.name}?reset")
        lesson = Lesson(page)
        page.wait_for_selector(
            f'.jp-Notebook-cell[data-windowed-list-index="{len(lesson.sources) - 1}"]', timeout=90_000
        )
        page.wait_for_selector(
            '.jp-NotebookPanel-toolbar [data-status="idle"], .jp-Notebook-ExecutionIndicator', timeout=60_000
        )

        # A prediction is committed before anything else has run.
        lesson.run(lesson.ids["setup"])
        first = next(i for i, source in enumerate(lesson.sources) if source.startswith("predict("))
        lesson.run(first)
        ask = lesson.cell(first)
        ask.get_by_role("radio").first.wait_for(timeout=60_000)
        ask.get_by_role("button", name="Commit prediction").click()
        expect(ask.get_by_role("status")).to_contain_text("Choose one")
        ask.get_by_role("radio").first.check()
        ask.get_by_role("button", name="Commit prediction").click()
        expect(ask.get_by_role("status")).to_contain_text("Committed")
        expect(ask.get_by_role("button", name="Commit prediction")).to_be_disabled()

        # All cells run from top to bottom, unsolved, and the commitment is still there.
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        last = max(i for i, source in enumerate(lesson.sources) if source.startswith("progress("))
        expect(lesson.cell(last).locator(".jp-Cell-outputArea")).to_contain_text("Your progress", timeout=120_000)
        assert "0 of 100" in lesson.text(last)
        expect(lesson.cell(first).get_by_role("status")).to_contain_text("Committed")
        assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.error']").count() == 0
        assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
        assert any(
            "You predicted" in lesson.text(i)
            for i in range(first, first + 3)
            if lesson.sources[i].find("compare(") >= 0
        )

        # A wrong answer is named; the right one brings the points.
        answer, verdict = lesson.ids["exercise-1-1"], lesson.ids["check-1-1"]
        assert "NOT ATTEMPTED" in lesson.text(verdict)
        lesson.write(answer, WRONG)
        lesson.run(answer)
        lesson.run(verdict)
        expect(lesson.cell(verdict).locator("section")).to_contain_text("moved-all-entries")
        lesson.cell(verdict).scroll_into_view_if_needed()
        page.screenshot(path=shots / "wrong.png")
        lesson.write(answer, RIGHT)
        lesson.run(answer)
        lesson.run(verdict)
        expect(lesson.cell(verdict).locator("section")).to_contain_text("PASSED")
        lesson.run(last)
        expect(lesson.cell(last).locator(".jp-Cell-outputArea")).to_contain_text("20 of 100")
        page.screenshot(path=shots / "right.png")

        # What the course renders has no serious accessibility fault.
        found = Axe().run(page, context={"include": [[".jp-OutputArea-output"]]})
        serious = [fault for fault in found.response["violations"] if fault["impact"] in ("serious", "critical")]
        assert not serious, "\n".join(f"{f['id']}: {f['help']}: {f['nodes'][0]['html'][:300]}" for f in serious)
        browser.close()
