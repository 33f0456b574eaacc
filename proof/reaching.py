"""Which tests reach a line? A pytest plugin that records, for each test, the lines of some modules that it ran.

    python -m pytest -p proof.reaching --reached FILE --reached-in MODULE --reached-in MODULE TESTS

Laws: lines run by a fixture of several tests count for each of them; lines run before the first test belong to none and are kept
separately; a test that started another Python, or shares one that a fixture started, may have run any line there.
Leaves to others: what the lines are needed for.
"""

from __future__ import annotations

import _thread
import json
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

EARLY = ""
"""The context of code that runs while modules are loaded and tests are collected."""
_OF_FIXTURES = "fixture:"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options: the output file, and the modules to record."""
    parser.addoption("--reached")
    parser.addoption("--reached-in", action="append", default=[])


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Start before the first module of the product is loaded."""
    given = early_config.known_args_namespace
    if given.reached:
        early_config.pluginmanager.register(Reaching(given.reached, given.reached_in))


class Reaching:
    """The recorded lines of one test run."""

    def __init__(self, path: str, modules: list[str]) -> None:
        import coverage  # reading the records does not need it

        self._path = path
        self._coverage = coverage.Coverage(data_file=None, config_file=False, include=modules, messages=False)
        self._coverage.start()
        self._now = EARLY
        self._tests: dict[str, dict[str, Any]] = {}
        self._starts = False
        self._starting: set[str] = set()  # shared fixtures
        sys.addaudithook(self._heard)
        _thread.start_new_thread = _traced(_thread.start_new_thread)

    def _heard(self, event: str, arguments: tuple[object, ...]) -> None:
        if event in {"os.fork", "os.posix_spawn"} or (event == "subprocess.Popen" and "git" not in str(arguments[0])):
            self._starts = True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """One test, with its fixtures."""
        self._now, self._starts = item.nodeid, False
        self._tests[item.nodeid] = {"fails": False}
        self._coverage.switch_context(item.nodeid)
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            wide = [_key(one) for one in _fixtures(item) if one.scope != "function"]
            starts = self._starts or not self._starting.isdisjoint(wide)
            test = self._tests[item.nodeid]
            test |= {"seconds": round(time.perf_counter() - began, 3), "starts": starts, "fixtures": wide}
            self._coverage.switch_context(EARLY)
            self._now = EARLY

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Any:
        """A fixture that a test shares with others."""
        if fixturedef.scope == "function":
            return (yield)
        before, started = self._now, self._starts
        self._now, self._starts = _key(fixturedef), False
        self._coverage.switch_context(self._now)
        try:
            return (yield)
        finally:
            if self._starts:
                self._starting.add(self._now)
            self._now, self._starts = before, self._starts or started
            self._coverage.switch_context(before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that fails without a mutant kills nothing."""
        if report.failed:
            self._tests[report.nodeid]["fails"] = True

    def pytest_sessionfinish(self) -> None:
        """Write the records."""
        self._coverage.stop()
        data = self._coverage.get_data()
        reached: dict[str, dict[str, list[int]]] = {}
        for module in data.measured_files():
            of_module = reached[module] = {}
            for line, contexts in data.contexts_by_lineno(module).items():
                for context in contexts:
                    of_module.setdefault(context, []).append(line)
        Path(self._path).write_text(json.dumps({"tests": self._tests, "reached": reached}))


def _traced(start: Callable[..., int]) -> Callable[..., int]:
    """A `start_new_thread` whose threads are traced like those of `threading`."""

    def started(function: Callable[..., object], *arguments: Any) -> int:
        def run(*given: Any, **named: Any) -> None:
            sys.settrace(threading.gettrace())
            function(*given, **named)

        return start(run, *arguments)

    return started


def _fixtures(item: pytest.Item) -> list[pytest.FixtureDef[Any]]:
    known = getattr(item, "_fixtureinfo", None)
    return [] if known is None else [one for defs in known.name2fixturedefs.values() for one in defs]


def _key(fixture: pytest.FixtureDef[Any]) -> str:
    return f"{_OF_FIXTURES}{fixture.baseid}:{fixture.argname}"
