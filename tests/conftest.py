"""What every test may lean on: the marker for missing programs, trees and files of the awkward kinds."""

from __future__ import annotations

import gc
import os
import shutil
import signal

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from tests import forks
from tests.environments import miss

# The suite draws the same examples in each run, so that what fails was broken by the change at hand; new ones are looked
# for with PENSTOCK_HYPOTHESIS=long, at random and four hundred times as many.
settings.register_profile(
    "suite", deadline=None, max_examples=12, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", deadline=None, max_examples=5000, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("PENSTOCK_HYPOTHESIS", "suite"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a job in the background has it, and then all that it starts
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as nohup has it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

PACKAGES = {
    "rg": "ripgrep",
    "ctags": "universal-ctags",
    "npx": "npm",
    "git": "git",
    "bwrap": "bubblewrap",
    "cobc": "gnucobol3",
    "zsh": "zsh",
    "fish": "fish",
    "openssl": "openssl",
    "flock": "util-linux",
}  # Debian's, by program


LONG = {
    "test_conformance",
    "test_page_browser",
    "test_site_browser",
    "test_carried",
    "test_sdks",
    "test_rigs",
    "test_durability",
    "test_long_run",
    "test_completion",
    "test_floods",
    "test_docs",
}
"""Modules with a test of ten seconds or more."""


def pytest_configure(config: pytest.Config) -> None:
    """The workers of xdist share what makes processes that begin warm."""
    if hasattr(config, "workerinput"):
        forks.share(config.workerinput["testrunuid"], os.getppid())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes long comes first: begun last, it has one processor wait for the other."""
    items.sort(key=lambda item: item.path.stem not in LONG)


gc.disable()  # while tests are collected: next to nothing of that is garbage


def pytest_collection_finish() -> None:
    """Thousands of collected tests are not looked at again by each collection of garbage: an eighth of all time.

    The little garbage among them stays: to look for it takes half a second in each worker.
    """
    gc.freeze()
    gc.set_threshold(100_000)  # with 10,000, as `penstock` has it, three rooms take a tenth longer, laws 4 % less
    gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker of xdist tells of a test's call, and else of what went wrong or took long: a fifth of its messages."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > 1:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test whose program is missing and names the package; fails it where the caller requires all."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if shutil.which(program) is None:
                miss(f"{program} is not installed (Debian package {PACKAGES.get(program, program)})")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The last line counts what was not tried."""
    skipped = len(terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.write_line(
            f"{skipped} tests skipped; PENSTOCK_TEST_REQUIRE=all turns a missing program into a failure"
        )


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No setting of the user's reaches a test, and no test reaches the user's store."""
    for name in list(os.environ):
        if name.startswith("PENSTOCK_") and name not in {
            "PENSTOCK_HYPOTHESIS",
            "PENSTOCK_TEST_REQUIRE",
            "PENSTOCK_TEST_CONVERTERS",
            "PENSTOCK_TEST_HOSTS",
            "PENSTOCK_TEST_PRICES",
            "PENSTOCK_TEST_SERVERS",
            "PENSTOCK_TOOLS",
            "PENSTOCK_DATA",
        }:
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
