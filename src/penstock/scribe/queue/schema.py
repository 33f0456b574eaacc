"""What are the tables of a queue? They are made in steps from one version of the schema to the next, and back again.

    runs      an estate that is documented: with what, how urgently, how far
    files     what belongs to a run, in the order of its paths, and what was found in each
    contents  the bytes of files, each once
    chunks    what is asked about, one row for each question
    answers   what was accepted, under a hash of everything it depends on
    limits    what a key may ask of a model, and until when it is held; `spent` has the seconds of the last minute
    workers   which workers were seen, and with what

The tables of the engine, procrastinate's own, are in the same schema. Steps are never edited once released: a change is a new step,
with its way back. Law: a schema is at one complete version, whenever a migration ended. Leaves to others: who runs the steps
(`database`).
"""

from __future__ import annotations

from typing import NamedTuple


class Step(NamedTuple):
    """A change of the schema, and its way back.

    `oldest` is the first version whose code works with tables of this one, so that old workers can continue next to new ones.
    """

    forwards: tuple[str, ...]
    back: tuple[str, ...]
    oldest: int


# A grant counts for this long: the provider's minute, the second that a slot is wide, the two that a grant may be used in
# (`limits.GRANT_SECONDS`), and two for the way to the provider, which one request may need and the next one not.
WINDOW_SECONDS = 65
LONGEST_HOLD_SECONDS = 3_600
"""How long a provider's word keeps a key from asking: one that names a month is asked again in an hour, which costs a refusal."""

# One round trip, and the row of the bucket is locked only within it. `clock_timestamp`, since `now()` is the time at which the
# transaction began, before it waited for the lock. A clock that is set back does not grant the same second twice: `last_second`
# only grows.
_TAKE = """
CREATE FUNCTION take_v1(of_key text, of_model text, want_tokens bigint, OUT slot bigint, OUT wait_seconds double precision)
LANGUAGE plpgsql AS $$
DECLARE
    bucket limits%ROWTYPE;
    used_requests bigint;
    used_tokens bigint;
    need_requests bigint;
    need_tokens bigint;
    free_at bigint;
    at bigint;
BEGIN
    slot := 0; wait_seconds := 0;
    SELECT * INTO bucket FROM limits WHERE key = of_key AND model = of_model FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO limits (key, model) VALUES (of_key, of_model) ON CONFLICT DO NOTHING;
        SELECT * INTO bucket FROM limits WHERE key = of_key AND model = of_model FOR UPDATE;
    END IF;
    IF bucket.hold_until > clock_timestamp() THEN
        wait_seconds := extract(epoch FROM bucket.hold_until - clock_timestamp());
        RETURN;
    END IF;
    at := greatest(floor(extract(epoch FROM clock_timestamp()))::bigint, bucket.last_second);
    DELETE FROM spent WHERE key = of_key AND model = of_model AND second <= at - %WINDOW;
    SELECT coalesce(sum(requests), 0), coalesce(sum(tokens), 0) INTO used_requests, used_tokens
        FROM spent WHERE key = of_key AND model = of_model AND second > at - %WINDOW;
    need_requests := used_requests + 1 - bucket.requests;
    -- A request that is larger than the whole limit goes out alone: the provider says what becomes of it.
    IF bucket.tokens IS NOT NULL THEN  -- `least` would pass over a limit that is none
        need_tokens := least(used_tokens, used_tokens + want_tokens - bucket.tokens);
    END IF;
    IF coalesce(need_requests, 0) <= 0 AND coalesce(need_tokens, 0) <= 0 THEN
        INSERT INTO spent (key, model, second, requests, tokens) VALUES (of_key, of_model, at, 1, want_tokens)
            ON CONFLICT (key, model, second)
            DO UPDATE SET requests = spent.requests + 1, tokens = spent.tokens + excluded.tokens;
        UPDATE limits SET last_second = at WHERE key = of_key AND model = of_model;
        slot := at;
        RETURN;
    END IF;
    SELECT min(second) INTO free_at FROM (
        SELECT second, sum(requests) OVER sofar AS r, sum(tokens) OVER sofar AS t
        FROM spent WHERE key = of_key AND model = of_model WINDOW sofar AS (ORDER BY second)) AS sums
        WHERE r >= coalesce(need_requests, 0) AND t >= coalesce(need_tokens, 0);
    wait_seconds := greatest(1, coalesce(free_at + %WINDOW - at, 1));
END $$""".replace("%WINDOW", str(WINDOW_SECONDS))

# What a worker's role may do with answers and limits, it does only through these: it has no right to the tables, and the functions
# have their owner's. Names in them are looked up in this path only, whatever the caller's is.
_OF_THE_OWNER = "LANGUAGE plpgsql SECURITY DEFINER SET search_path = penstock_queue, pg_temp AS $$"

# One statement decides, and so only once: of two workers with an answer to one question the second finds the row of the first. The
# nonce says whose answer it is, also to a worker that asks again because its COMMIT was lost. A refusal for size gives way to an
# answer, and to the refusal of a smaller chunk: of two for the same size the first stays, or a worker that was frozen would change
# the size that others have split by. A broken answer gives way to the next. An answer older than a run that asks afresh gives way
# until that run is done: even after it was cancelled, since what was under way then was paid for.
_ACCEPT = """
CREATE FUNCTION accept_v1(of_key bytea, of_kind text, of_value text, of_refused_tokens integer, of_nonce bytea, of_run bigint)
RETURNS void %OWNER
DECLARE
    since timestamptz := (SELECT fresh_since FROM runs WHERE id = of_run AND phase <> 'done');
BEGIN
    INSERT INTO answers AS known (key, kind, value, refused_tokens, nonce, run)
        VALUES (of_key, of_kind, of_value, of_refused_tokens, of_nonce, of_run)
        ON CONFLICT (key) DO UPDATE SET kind = excluded.kind, value = excluded.value, refused_tokens = excluded.refused_tokens,
            nonce = excluded.nonce, run = excluded.run, accepted_at = excluded.accepted_at
        WHERE known.kind = 'broken' OR known.accepted_at < since OR (known.kind = 'refusal' AND (excluded.kind = 'answer'
            OR excluded.refused_tokens < coalesce(known.refused_tokens, 2147483647)));
    IF NOT FOUND THEN
        UPDATE answers SET late = late + 1 WHERE key = of_key AND nonce <> of_nonce;
    END IF;
END $$""".replace("%OWNER", _OF_THE_OWNER)

_TAKE_V2 = (
    _TAKE.replace("take_v1", "take_v2")
    .replace("LANGUAGE plpgsql AS $$", _OF_THE_OWNER)
    .replace("slot := 0;", "want_tokens := greatest(0, want_tokens); slot := 0;")  # asking must not give tokens back
)

_SETTLE = """
CREATE FUNCTION settle_v1(of_key text, of_model text, slot bigint, change bigint) RETURNS void %OWNER
BEGIN
    UPDATE spent SET tokens = greatest(0, tokens + change) WHERE key = of_key AND model = of_model AND second = slot;
END $$""".replace("%OWNER", _OF_THE_OWNER)

_HOLD = """
CREATE FUNCTION hold_v1(of_key text, of_model text, seconds double precision) RETURNS void %OWNER
BEGIN
    INSERT INTO limits AS known (key, model, hold_until)
        VALUES (of_key, of_model, clock_timestamp() + make_interval(secs => least(seconds, %LONGEST)))
        ON CONFLICT (key, model) DO UPDATE SET hold_until = greatest(known.hold_until, excluded.hold_until);
END $$""".replace("%LONGEST", str(LONGEST_HOLD_SECONDS)).replace("%OWNER", _OF_THE_OWNER)

_FUNCTIONS = (
    "accept_v1(bytea, text, text, integer, bytea, bigint)",
    "take_v2(text, text, bigint)",
    "settle_v1(text, text, bigint, bigint)",
    "hold_v1(text, text, double precision)",
)

STEPS: tuple[Step, ...] = (
    Step(  # 1: runs, their files and chunks, and what was accepted
        forwards=(
            """CREATE TABLE runs (
                id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                title text NOT NULL,
                digest bytea NOT NULL,
                fingerprint text NOT NULL,
                wire text NOT NULL,
                model text NOT NULL,
                window_tokens integer,
                tokenizer text,
                counting text NOT NULL,
                max_prompt_tokens integer NOT NULL,
                adaptive boolean NOT NULL,
                source_format text,
                priority integer NOT NULL DEFAULT 0,
                fresh_since timestamptz,
                skipped jsonb NOT NULL DEFAULT '[]',
                left_out jsonb NOT NULL DEFAULT '[]',
                phase text NOT NULL DEFAULT 'surveying' CHECK (phase IN ('surveying', 'asking', 'done', 'cancelled')),
                created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                ended_at timestamptz)""",
            "CREATE TABLE contents (digest bytea PRIMARY KEY, data bytea NOT NULL)",
            # Compressed before it comes here: the server would try again in vain.
            "ALTER TABLE contents ALTER COLUMN data SET STORAGE EXTERNAL",
            """CREATE TABLE files (
                run bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
                number integer NOT NULL,
                path bytea NOT NULL,
                kind text NOT NULL,
                digest bytea NOT NULL,
                state text NOT NULL CHECK (state IN ('beside', 'waiting', 'surveyed', 'failed')),
                attempts integer NOT NULL DEFAULT 0,
                reason text,
                programs jsonb,
                assignment jsonb,
                around jsonb,
                PRIMARY KEY (run, number))""",
            "CREATE INDEX files_waiting ON files (run) WHERE state = 'waiting'",
            """CREATE TABLE chunks (
                run bigint NOT NULL REFERENCES runs ON DELETE CASCADE,
                file integer NOT NULL,
                number integer NOT NULL,
                key bytea NOT NULL,
                prompt_tokens integer NOT NULL,
                state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'failed')),
                job bigint,
                attempts integer NOT NULL DEFAULT 0,
                calls integer NOT NULL DEFAULT 0,
                input_tokens bigint NOT NULL DEFAULT 0,
                output_tokens bigint NOT NULL DEFAULT 0,
                cause text,
                reason text,
                ended_at timestamptz,
                PRIMARY KEY (run, file, number)) WITH (fillfactor = 70)""",
            "CREATE INDEX chunks_open ON chunks (run, file, number) WHERE state = 'open'",
            """CREATE TABLE answers (
                key bytea PRIMARY KEY,
                kind text NOT NULL CHECK (kind IN ('answer', 'refusal')),
                value text NOT NULL,
                nonce bytea NOT NULL,
                late integer NOT NULL DEFAULT 0,
                run bigint NOT NULL,
                accepted_at timestamptz NOT NULL DEFAULT clock_timestamp())""",
            "CREATE INDEX answers_late ON answers (run) WHERE late > 0",
            """CREATE TABLE workers (
                id text PRIMARY KEY,
                name text NOT NULL,
                version text NOT NULL,
                queues text[] NOT NULL,
                jobs integer NOT NULL,
                key text NOT NULL,
                started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
                seen_at timestamptz NOT NULL DEFAULT clock_timestamp())""",
        ),
        back=("DROP TABLE workers, answers, chunks, files, contents, runs",),
        oldest=1,
    ),
    Step(  # 2: limits of keys
        forwards=(
            """CREATE TABLE limits (
                key text NOT NULL,
                model text NOT NULL,
                requests bigint CHECK (requests > 0),
                tokens bigint CHECK (tokens > 0),
                hold_until timestamptz NOT NULL DEFAULT '-infinity',
                last_second bigint NOT NULL DEFAULT 0,
                PRIMARY KEY (key, model))""",
            """CREATE TABLE spent (
                key text NOT NULL,
                model text NOT NULL,
                second bigint NOT NULL,
                requests integer NOT NULL,
                tokens bigint NOT NULL,
                PRIMARY KEY (key, model, second)) WITH (fillfactor = 70)""",
            _TAKE,
        ),
        back=("DROP FUNCTION take_v1(text, text, bigint)", "DROP TABLE spent, limits"),
        oldest=2,  # older code knows no limits and would not keep to them
    ),
    Step(  # 3: who asks the same question
        forwards=("CREATE INDEX chunks_open_keys ON chunks (key) WHERE state = 'open'",),
        back=("DROP INDEX chunks_open_keys",),
        oldest=2,
    ),
    Step(  # 4: only functions change what was accepted; roles with rights to the tables continue without them
        forwards=(
            "ALTER TABLE runs ADD COLUMN title_bytes bytea",  # a folder's name may not be text that a database accepts
            # Nor need the name of a job be: jsonb accepts neither NUL nor half a surrogate pair, even escaped.
            "ALTER TABLE files ALTER COLUMN around TYPE json USING around::json",
            "ALTER TABLE answers ADD COLUMN refused_tokens integer",
            "ALTER TABLE answers DROP CONSTRAINT answers_kind_check",
            "ALTER TABLE answers ADD CONSTRAINT answers_kind_check CHECK (kind IN ('answer', 'refusal', 'broken'))",
            _ACCEPT,
            _TAKE_V2,
            _SETTLE,
            _HOLD,
            *(f"REVOKE ALL ON FUNCTION {name} FROM PUBLIC" for name in _FUNCTIONS),
        ),
        back=(
            *(f"DROP FUNCTION {name}" for name in _FUNCTIONS),
            "DELETE FROM answers WHERE kind = 'broken'",
            "ALTER TABLE answers DROP CONSTRAINT answers_kind_check",
            "ALTER TABLE answers ADD CONSTRAINT answers_kind_check CHECK (kind IN ('answer', 'refusal'))",
            "ALTER TABLE answers DROP COLUMN refused_tokens",
            r"UPDATE files SET around = NULL WHERE around::text ~ '\\u0000|\\ud[89a-f]'",
            "ALTER TABLE files ALTER COLUMN around TYPE jsonb USING around::jsonb",
            "ALTER TABLE runs DROP COLUMN title_bytes",
        ),
        oldest=4,  # statements prepared to read `around` as jsonb do not read it any more
    ),
)
