"""Does a test fail while a module is another? A pytest plugin that loads the tests once, and tries each mutant in a fork.

    python -m pytest -p proof.warm TESTS

Jobs come as lines of JSON on standard input: `{"module", "old", "new", "tests"}`, the tests with the seconds that each may take.
After a line that says that all is loaded, one line is returned for each, `{"failed", "seconds"}`: the first test that failed, that
its time ran out, or null; and the processor time of all. The functions whose code differs between the two texts get the new code; a
job with equal texts runs the tests unchanged. A text that differs elsewhere, in code that runs when the module is loaded, cannot be
tried here: `{"cannot": true}`. For processes that a test starts, the caller has put the new text on disk, too.
Laws: no test has run in the process that is forked; whatever a test started ends with its fork.
"""

from __future__ import annotations

import gc
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import types
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, settings
from proof.verdicts import OUT_OF_TIME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_BEGINS_SECONDS = 30.0


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Keep the pipes to the caller, before pytest takes them over."""
    pluginmanager.register(_Warm())


class _Warm:
    """Loaded tests, and the pipes to the caller."""

    def __init__(self) -> None:
        self._jobs = os.fdopen(os.dup(0), encoding="utf-8")
        self._answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """A failing property is enough: no smaller example is searched for."""
        settings.register_profile("warm", parent=settings(), phases=(Phase.explicit, Phase.generate))
        settings.load_profile("warm")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer until no more jobs come."""
        if session.testsfailed:  # a test module could not be loaded
            return True
        items = {item.nodeid: item for item in session.items}
        gc.unfreeze()
        gc.collect()
        functions = [one for one in gc.get_objects() if isinstance(one, types.FunctionType)]
        gc.freeze()
        gc.disable()
        print("loaded", file=self._answers)
        for line in self._jobs:
            job = json.loads(line)
            chosen = [items[one] for one in job["tests"] if one in items]
            print(json.dumps(_tried(job, chosen, functions)), file=self._answers)
        return True


def _tried(
    job: dict[str, Any], items: Sequence[pytest.Item], functions: Sequence[types.FunctionType]
) -> dict[str, Any]:
    """One job in a fork of its own."""
    news: list[tuple[types.FunctionType, types.CodeType]] = []
    if job["old"] != job["new"]:
        try:
            codes = dict(
                _pairs(*(compile(job[text], job["module"], "exec", dont_inherit=True) for text in ("old", "new")))
            )
        except ValueError:
            return {"cannot": True}
        news = [
            (one, codes[_place(one.__code__)])
            for one in functions
            if one.__code__.co_filename == job["module"] and _place(one.__code__) in codes
        ]
        if not news:
            return {"cannot": True}
    before = os.times()
    temporary = tempfile.mkdtemp(prefix="warm-")
    reading, writing = os.pipe()
    if not (child := os.fork()):
        _run(items, news, temporary, writing)
    os.close(writing)
    try:
        failed = _verdict(reading, [job["tests"][item.nodeid] for item in items])
    finally:
        os.close(reading)
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        shutil.rmtree(temporary, ignore_errors=True)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return {"failed": failed, "seconds": round(seconds, 2)}


def _verdict(reading: int, patience: Sequence[float]) -> str | None:
    """A fork's final result; it also reports each test that it starts."""
    said = b""
    for seconds in (_BEGINS_SECONDS, *patience):
        if not select.select([reading], [], [], seconds)[0]:
            return OUT_OF_TIME
        said = os.read(reading, 1 << 16)
        if said.strip(b"."):
            break
    verdict = said.lstrip(b".").decode()
    return json.loads(verdict) if verdict else "the process of the tests ended"


def _run(
    items: Sequence[pytest.Item],
    news: Sequence[tuple[types.FunctionType, types.CodeType]],
    temporary: str,
    writing: int,
) -> None:
    """Within the fork: run the tests until one fails. Never returns."""
    failed = None
    try:
        os.setsid()
        gc.enable()
        for function, code in news:
            function.__code__ = code
        for at, item in enumerate(items):
            if not at:
                item.config._tmp_path_factory._basetemp = Path(temporary)  # type: ignore[attr-defined]
            os.write(writing, b".")
            following = items[at + 1] if at + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if item.session.testsfailed:
                failed = item.nodeid
                break
    except BaseException as error:
        failed = f"{error!r:.200}"
    finally:
        os.write(writing, json.dumps(failed).encode())
        os._exit(0)


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _pairs(old: types.CodeType, new: types.CodeType) -> Iterator[tuple[tuple[str, int], types.CodeType]]:
    """The functions of two texts of a module whose code differs, with the new code.

    Raises:
        ValueError: the difference is in code that runs when the module is loaded, or functions came or went.
    """
    olds, others = ([one for one in code.co_consts if isinstance(one, types.CodeType)] for code in (old, new))
    if [one.co_name for one in olds] != [one.co_name for one in others]:
        raise ValueError("functions came or went")
    is_function = bool(old.co_flags & 0x2)  # CO_NEWLOCALS: neither a module nor a class
    if is_function and old != new:
        if old.co_freevars != new.co_freevars:
            raise ValueError("other variables from outside")
        yield _place(old), new
    elif not is_function and (old.co_code, _plain(old)) != (new.co_code, _plain(new)):
        raise ValueError("run when the module is loaded")
    for one, other in zip(olds, others, strict=True):
        yield from _pairs(one, other)


def _plain(code: types.CodeType) -> list[object]:
    return [(type(one), one) for one in code.co_consts if not isinstance(one, types.CodeType)]


if __name__ == "__main__":
    sys.exit(__doc__)
