"""What may every test rely on? A marker for missing programs, a clean environment, and processes that start warm."""

from __future__ import annotations

import gc
import os
import shutil
import signal
from typing import TYPE_CHECKING

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests import forks
from tests.environments import miss

if TYPE_CHECKING:
    from collections.abc import Iterator

# The suite draws the same examples in each run, so that a failure is due to the current change; PENSTOCK_HYPOTHESIS=long draws
# four hundred times as many at random. Hypothesis also draws constants from the modules imported so far. Which modules those are
# depends on the tests that an xdist worker ran before, so the suite turns this off.
settings.register_profile(
    "suite", deadline=None, max_examples=12, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", deadline=None, max_examples=5000, suppress_health_check=list(HealthCheck))
PROFILE = os.environ.get("PENSTOCK_HYPOTHESIS", "suite")
settings.load_profile(PROFILE)
if PROFILE == "suite":
    providers._get_local_constants = Constants

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a background job, whose children inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # as under nohup
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
}  # Debian packages, by program


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
"""Modules with a test that takes ten seconds or more."""


def pytest_configure(config: pytest.Config) -> None:
    """Let the workers of xdist share the servers that fork warm processes."""
    if hasattr(config, "workerinput"):
        forks.share(config.workerinput["testrunuid"], os.getppid())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run slow modules first: started last, one of them would leave the other processors idle."""
    items.sort(key=lambda item: item.path.stem not in LONG)


gc.disable()  # during collection of the tests, which makes hardly any garbage


def pytest_collection_finish() -> None:
    """Keep garbage collections from scanning thousands of collected tests each time, which took an eighth of the run.

    The little garbage among them stays: collecting it takes half a second in each worker.
    """
    gc.freeze()
    gc.set_threshold(100_000)  # with 10,000, as in `penstock`, three rooms take a tenth longer, laws 4 % less
    gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Report, from a worker of xdist, only calls and phases that failed or took long: a fifth of the messages."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed or report.duration > 1:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing and name the package; fail it if the caller requires every program."""
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if shutil.which(program) is None:
                miss(f"{program} is not installed (Debian package {PACKAGES.get(program, program)})")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the skipped tests in the last line."""
    skipped = len(terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.write_line(
            f"{skipped} tests skipped; PENSTOCK_TEST_REQUIRE=all turns a missing program into a failure"
        )


@pytest.fixture(scope="session", autouse=True)
def _clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the user's settings out of tests, and tests out of the user's store.

    Once, not before each test: a test changes its environment by `monkeypatch`, which puts it back.
    """
    with pytest.MonkeyPatch.context() as patch:
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
                patch.delenv(name)
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.getbasetemp() / "state"))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        yield
