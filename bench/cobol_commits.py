"""What is asked again when an estate changes? Successive real commits of a repository, documented one after the other (C-13).

    python bench/cobol_commits.py REPOSITORY [--steps 10] [--until COMMIT] [--under FOLDER]

REPOSITORY is a git directory. The newest commits that change programs or copybooks under FOLDER are taken, oldest first, and each
is documented into the same folder by a scripted model over loopback HTTP. The first run asks about everything; each further one
should send only prompts that were never sent before. A prompt sent twice is a fault, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.scribe.author import Author

from penstock.models import sizes
from penstock.testing import LoopbackProvider

_SUFFIXES = (".cbl", ".cob", ".cpy", ".CBL", ".COB", ".CPY")
_PROMPT_TOKENS = 6_000


@dataclass(frozen=True, slots=True)
class Step:
    """One commit: how many files it changed, and what its run asked."""

    changed_files: int
    programs: int
    chunks: int
    prompts: int
    repeated: int
    """Prompts that an earlier run had already sent."""


def git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout


def commits(repository: Path, steps: int, until: str, under: str) -> list[str]:
    """The newest commits that change sources, oldest first; one more than there are steps."""
    paths = [f":(glob){under}/**/*{suffix}".replace("./", "") for suffix in _SUFFIXES]
    found = git(repository, "log", "--first-parent", "--format=%H", f"-{steps + 1}", until, "--", *paths).decode()
    return found.split()[::-1]


def checked_out(repository: Path, commit: str, under: str, folder: Path) -> None:
    """Replace the content of a folder with that of a commit."""
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    folder.mkdir()
    archive = git(repository, "archive", commit, under)
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)


def changed_files(repository: Path, before: str, after: str, under: str) -> int:
    names = git(repository, "diff", "--name-only", "--no-renames", before, after, "--", under).decode().splitlines()
    return sum(name.endswith(_SUFFIXES) for name in names)


def documented(root: Path, out: Path, store: Path, base_url: str) -> dict[str, int]:
    """Run `penstock document` and return its figures."""
    command = [
        *(sys.executable, "-m", "penstock", "document", ".", "--root", str(root), "--out", str(out), "--json"),
        *("--model", "openai-chat:scripted", "--base-url", base_url, "--max-prompt-tokens", str(_PROMPT_TOKENS)),
    ]
    environment = {"PENSTOCK_STORE": f"sqlite:///{store}", "OPENAI_API_KEY": "any", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, capture_output=True, env=environment, cwd=root, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode()[-2_000:])
    return json.loads(done.stdout)  # type: ignore[no-any-return]  # figures by name


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--until", default="HEAD")
    parser.add_argument("--under", default=".")
    asked = parser.parse_args()
    found = commits(asked.repository, asked.steps, asked.until, asked.under)
    sent: set[str] = set()
    steps: list[Step] = []
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        root, out, store = (Path(folder, name) for name in ("root", "out", "store"))
        for before, commit in zip((None, *found), found, strict=False):
            checked_out(asked.repository, commit, asked.under, root)
            author = Author()
            with LoopbackProvider("openai-chat", 200_000, policy=author) as provider:
                figures = documented(root, out, store, provider.base_url)
            prompts = [sizes.text_of(request) for request in author.requests]
            changed = changed_files(asked.repository, before, commit, asked.under) if before else 0
            repeated = sum(prompt in sent for prompt in prompts)
            steps.append(Step(changed, figures["programs"], figures["chunks"], len(prompts), repeated))
            sent.update(prompts)
            print(f"{commit[:12]} {steps[-1]}", flush=True)
    again = steps[1:]
    print(
        f"{len(again)} steps: {sum(step.changed_files for step in again)} files changed,"
        f" {sum(step.prompts for step in again)} prompts, {sum(step.repeated for step in again)} of them sent before;"
        f" the first run sent {steps[0].prompts}"
    )
    return int(any(step.repeated for step in again))


if __name__ == "__main__":
    sys.exit(main())
