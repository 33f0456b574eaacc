"""How is the site of a run made? As on one machine, from the files that the queue holds, with the answers that were accepted.

No chunk is asked about here; only for one wording of similar statements is the run's model asked, within the limits of its key.
Law: for the same files and the same answers all files are, byte for byte, those that `penstock document` writes without a queue,
including the figures of the run; a chunk without an answer is listed with the reason why. Leaves to others: when a run is done
(`progress`).
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.scribe import document_gathered, reconciling
from penstock.scribe.file_work import assignment_key
from penstock.scribe.output import Output
from penstock.scribe.pool import Unanswered
from penstock.scribe.queue.accepted import Accepted
from penstock.scribe.queue.limits import Bucket, MeteredModel, texts_of
from penstock.scribe.queue.runs import gathered, own_fingerprints
from penstock.text.json_access import field

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.models import Model
    from penstock.scribe import Documented
    from penstock.scribe.documenting import DocumentingRun
    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.runs import Run
    from penstock.text.json_access import Json

JOBS = 4
"""How many answers are fetched at once."""
_WORDING_PATIENCE_SECONDS = 3_600.0  # for a turn at the key: all workers may be before it


class _Kept(Accepted):
    """The accepted answers, and a model without any others: asked a question, it says why there is no answer.

    With `wording`, that model is asked for wordings, which are kept next to the answers.
    """

    def __init__(self, database: Database, run: Run, assignments: dict[str, Json], wording: Model | None) -> None:
        super().__init__(database, run.id, assignments=assignments)
        self._wording = wording
        self._database_of_reasons, self._of = database, run.id
        self._asked = threading.local()
        self._own: set[str] = set()
        self.wire, self.name, self.window_tokens = run.model

    def get(self, key: str, /) -> Json:
        # If there is no answer, the same thread asks the model next: a request does not contain its key.
        self._asked.key = key
        return super().get(key)

    def count(self, made: DocumentingRun) -> None:
        """Add the figures of the run's workers: here every answer counts as kept, even those that this run asked for."""
        found = "SELECT coalesce(sum(calls), 0) FROM chunks WHERE run = %(run)s"
        ((calls,),) = self._database_of_reasons.rows(found, run=self._of)
        made.calls += int(calls)
        made.reused -= len(self._own)

    def _found_own(self, key: str, value: Json) -> None:
        if isinstance(value, dict) and field(value, "is_broken") is not True:  # neither a wording nor half of an answer
            self._own.add(key)

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """Raise the reason why there is no answer.

        Raises:
            Unanswered: Always, except for wordings.
        """
        if self._wording is not None and reconciling.SYSTEM in texts_of(request):
            return self._wording.send(request)
        key: str = getattr(self._asked, "key", "")
        rows = self._database_of_reasons.rows(
            "SELECT reason FROM chunks WHERE run = %(run)s AND key = %(key)s AND reason IS NOT NULL LIMIT 1",
            run=self._of,
            key=bytes.fromhex(key),
        )
        kept = rows[0][0] if rows else self.reason(key)
        raise Unanswered(kept or "nobody answered it before the site was made")


def finish(
    database: Database,
    run: Run,
    out: str,
    *,
    wording: Model | None = None,
    step: Callable[[str, int, int], None] | None = None,
) -> Documented:
    """Write the documents, pages and site of a run into a folder.

    Args:
        database: The queue.
        run: The run; chunks that are open are listed as failed.
        out: The folder.
        wording: The model that merges similar statements from several chunks of a program into one wording, which must be the
            run's; None to merge nothing.
        step: Called with what is being done, how many are done, and of how many.

    Raises:
        CallerError: The run was planned by another version, whose chunks this one does not cut, or has another model; or the folder
            cannot be written.
        StoreFault: The queue cannot be reached.
    """
    output = Output(out)
    output.expect_own()
    if run.fingerprint not in own_fingerprints().values():
        raise CallerError(
            f"Run {run.id} was planned by {run.fingerprint}, and this is {' and '.join(own_fingerprints().values())}: make "
            "its site with that version, or start it again, which takes all answers that still fit"
        )
    plans = database.rows(
        "SELECT path, assignment FROM files WHERE run = %(run)s AND assignment IS NOT NULL AND assignment <> 'null'",
        run=run.id,
    )

    budget = run.budget()
    assignments: dict[str, Json] = {
        assignment_key(os.fsdecode(bytes(path)), budget, run.model_id): made for path, made in plans
    }
    if wording is not None:
        if (wording.wire, wording.name) != (run.model.wire, run.model.name):
            raise CallerError(f"Run {run.id} asks {run.model_id}: --reconcile is for the same, named with --model")
        bucket = Bucket(database, "default", run.model_id)
        wording = MeteredModel(wording, bucket, patience_seconds=_WORDING_PATIENCE_SECONDS)
    kept = _Kept(database, run, assignments, wording)
    return document_gathered(
        gathered(database, run),
        run.title,
        output,
        model=kept,
        results=kept,
        jobs=JOBS,
        max_prompt_tokens=run.max_prompt_tokens,
        adaptive=run.adaptive,
        source_format=run.source_format,
        tokenizer=run.tokenizer,
        reconcile=wording is not None,
        counting=run.counting,
        counted=kept.count,
        step=step,
    )
