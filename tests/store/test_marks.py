"""Does kept content say which secrets it has, or have none of them if asked to?"""

from __future__ import annotations

import json
import random
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.test_redaction import JOINTS, PIECES

from penstock.cli import main
from penstock.errors import CallerError
from penstock.guard import output, stream
from penstock.store import default_redaction, finding, marks, open_store, pages
from penstock.store.marks import SecretWatch, redacted_bytes, secrets_of
from penstock.store.sqlite import DATABASE
from penstock.text.allowance import Allowance
from penstock.text.redaction import first_hint, mark_in, redacted
from penstock.text.secret_shape import REACH_CHARS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.store.tables import Tables

pytestmark = pytest.mark.proves("S-17")

TOKEN = b"ghp_" + b"aB3dE5fG7h" * 3 + b"123456"
KEY = b"AKIAIOSFODNN7EXAMPLE"
PEM = (
    b"-----BEGIN RSA PRIVATE KEY-----\n"
    + b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTU\n" * 24
    + b"-----END RSA PRIVATE KEY-----\n"
)
LINES = b"".join(b"line %d of a log\n" % n for n in range(2_000))
HELD = LINES + b"token " + TOKEN + b"\n" + LINES + b"key " + KEY + b" and " + TOKEN[::-1] + b" " + TOKEN + b"\n" + LINES


def parts_of(content: bytes, size: int = 999) -> Iterator[bytes]:
    """Yield content as it comes from a pipe."""
    return (content[at : at + size] for at in range(0, len(content), size))


# ── marked ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("how", ["bytes", "stream", "many", "many of one", "again"])
def test_what_is_kept_is_whole_and_marked(store: Tables, how: str) -> None:
    """This holds however it arrives; the mark has kinds and counts."""
    ways: dict[str, Callable[[], str]] = {
        "bytes": lambda: store.put(HELD),
        "stream": lambda: store.put(parts_of(HELD)),
        "many": lambda: store.put_many([(b"other", "a"), (HELD, "b"), (HELD, "c")])[2],
        "many of one": lambda: store.put_many([(HELD, "a")])[0],
        "again": lambda: (store.put(HELD, name="first"), store.put(HELD, name="second"))[1],
    }
    handle = ways[how]()
    assert store.read(handle, 0, len(HELD)) == HELD
    info = store.info(handle)
    assert (info.secrets, info.hidden) == ({"GitHub token": 2, "AWS key": 1}, 0)
    assert next(one for one in store.artifacts() if one.handle == handle) == info
    assert store.info(store.put(b"nothing")).secrets == {}
    assert store.check() == []


def test_a_mark_goes_with_its_content(store: Tables) -> None:
    """Removing the content also removes what the mark says."""
    store.remove_artifact(store.put(HELD))
    assert store._read("SELECT * FROM marks") == []
    store.put(HELD, life_seconds=0.001)
    store.prune()
    store._clock = lambda: 1e12
    store.prune()
    assert store._read("SELECT * FROM marks") == []


def test_a_list_is_made_from_marks_and_reads_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listing a gigabyte does not search it again."""
    with closing(open_store(str(tmp_path / "s"))) as store:
        store.put(HELD, name="shell")
        store.put(redacted_bytes(HELD), name="clean")
    monkeypatch.setattr("penstock.store.sqlite.SqliteStore.read", None)
    arguments = ["store", "list", "--secrets", "--store", str(tmp_path / "s")]
    assert main([*arguments, "--json"]) == 0
    items = json.loads(capsys.readouterr().out)["items"]
    assert [(one["secrets"], one["hidden"]) for one in items] == [({}, 3), ({"GitHub token": 2, "AWS key": 1}, 0)]
    assert main(arguments) == 0
    assert re.search(r"3 hidden +clean\n.*2 GitHub token, 1 AWS key +shell", capsys.readouterr().out)


def test_a_mark_that_is_not_what_was_written_says_nothing(tmp_path: Path) -> None:
    """The content is then searched, like that of an older Penstock, and `check` names the mark."""
    with closing(open_store(str(tmp_path / "s"))) as store:
        handle = store.put(KEY + b"\n" + HELD)
    with closing(sqlite3.connect(tmp_path / "s" / DATABASE)) as connection:
        connection.execute("UPDATE marks SET secrets = '{}'")
        connection.commit()
    with closing(open_store(str(tmp_path / "s"))) as store:
        assert store.info(handle).secrets is None
        assert secrets_of(store, handle) == {"GitHub token": 2, "AWS key": 2}
        assert ["its mark is not what was written" in damage.reason for damage in store.check()] == [True]


@pytest.mark.parametrize("offset", [-3, -700, 0, -len(PEM) + 9, -len(b"password: ")])
@pytest.mark.parametrize("ends_lines", [True, False])
def test_a_secret_at_the_end_of_a_block_is_seen_whole(offset: int, *, ends_lines: bool) -> None:
    """A key may cross the end, and a value's name may come before it; a line may be longer than a block."""
    filler = b"word words\n" if ends_lines else b"word words "
    before = (filler * 100_000)[: marks._BLOCK_BYTES + offset]
    for secret, held in ((PEM, PEM), (b'password: "hunter2hunter2"', b"hunter2hunter2"), (TOKEN, TOKEN)):
        content = before + b" " + secret + filler * 20_000
        clean = redacted_bytes(content)
        assert held not in clean
        assert clean.decode() == redacted(content.decode())


@pytest.mark.parametrize("lines", [9_000, 20_000])
@pytest.mark.parametrize("offset", [0, 17, -30])
def test_a_private_key_longer_than_a_block_is_hidden_whole(lines: int, offset: int) -> None:
    """PGP keys have many subkeys; the part after a window is recognised by its end alone. It counts as one key."""
    line = b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUabcd1234\n"
    key = b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n%s-----END PGP PRIVATE KEY BLOCK-----" % (line * lines)
    before = LINES * ((marks._BLOCK_BYTES + offset) // len(LINES)) + b"a" * (offset % 50) + b"\n"
    content = before + key + b"\n" + LINES
    clean = redacted_bytes(content)
    assert line[:20] not in clean
    assert clean.startswith(before)
    assert clean.endswith(b"\n" + LINES)
    assert clean.count(b"\n") == content.count(b"\n")
    assert redacted_bytes(clean) == clean
    watch = SecretWatch()
    watch.look(content)
    assert watch.mark.secrets == {"private key": 1}


def test_a_private_key_that_begins_where_a_block_ends_is_one() -> None:
    """The key belongs to the next block, which sees more of it."""
    lines = b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUabcd1234\n" * 1_500
    key = b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n%s-----END PGP PRIVATE KEY BLOCK-----" % lines
    before = b"a" * (marks._BLOCK_BYTES - 1) + b"\n"
    watch = SecretWatch(hides=True)
    assert b"".join(watch.passed([before + key])).startswith(
        before + b"[redacted: private key, %d characters]" % len(key)
    )
    assert watch.mark.hidden == 1


@pytest.mark.parametrize("first", [b"", b"token " + TOKEN + b" "])
def test_a_word_that_goes_on_in_the_next_block_begins_no_key(first: bytes) -> None:
    """The end of a block is seen before the next one; a character split there comes out whole."""
    words = "\U0001d11e".encode() * marks._BLOCK_BYTES
    before = (first + b"b" * marks._BLOCK_BYTES)[: marks._BLOCK_BYTES]
    key = b"hf_aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"
    assert redacted(f"a {key.decode()}") != f"a {key.decode()}"
    for content in (before + key + b"\n" + LINES * 10, first + b"b" + words + LINES * 10):
        hidden = content.replace(first, b"token [redacted: GitHub token, 40 characters] ") if first else content
        assert redacted_bytes(content) == hidden


def test_a_word_that_the_end_of_a_window_cuts_is_no_key() -> None:
    """A key of this kind ends where the window does; the next window shows that the word goes on."""
    block = (b"token " + TOKEN + b"\n" + LINES * 20)[: marks._BLOCK_BYTES - 1] + b"\n"
    clefs, key = "\U0001d11e".encode() * (REACH_CHARS - 6), b"    ABIAABCDEFGHABCDEFGH"
    content = block + clefs + key + b"ABCDEFGH\n" + LINES
    assert len(block + clefs + key) == marks._WINDOW_BYTES
    assert redacted(f"{key.decode()} ") != f"{key.decode()} "
    assert redacted_bytes(content) == content.replace(TOKEN, b"[redacted: GitHub token, 40 characters]")


def test_what_follows_a_whole_private_key_is_no_part_of_it() -> None:
    """This holds if a window ends with the key, and for forms without an end line in the next block."""
    line = b"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUabcd1234\n"
    long_key = b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n%s-----END PGP PRIVATE KEY BLOCK-----" % (line * 1_500)
    words = b"words that follow\n" * 40_000
    for content in (
        words[: marks._WINDOW_BYTES - len(long_key) - 1] + b"\n" + long_key + words,
        b"Private-Lines: 1\n" + line + words,
    ):
        assert redacted_bytes(content) == redacted(content.decode()).encode()


_CONTENT = st.lists(
    st.sampled_from(
        [
            TOKEN,
            KEY,
            PEM[:300],
            b"password=",
            b"hunter2hunter2",
            b"\n",
            b" ",
            b"\xff\xfe",
            "ä€𝄞".encode(),
            b"\xc3",
            b"x" * 70,
        ]
    )
    | st.binary(max_size=20),
    max_size=40,
).map(b"".join)


@given(content=_CONTENT, size=st.integers(1, 300), block=st.integers(1, 200))
def test_law_what_is_no_secret_comes_out_as_it_came_in(content: bytes, size: int, block: int) -> None:
    """Content stays byte for byte, however it is split; hiding equals hiding the whole text, and hiding twice equals once."""
    whole = redacted(content.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(marks, "_BLOCK_BYTES", block)
        patch.setattr(marks, "_WINDOW_BYTES", block + 8_192)
        watch = SecretWatch()
        assert b"".join(watch.passed(parts_of(content, size))) == content
        hiding = SecretWatch(hides=True)
        assert (
            b"".join(hiding.passed(parts_of(content, size)))
            == whole
            == redacted_bytes(content)
            == redacted_bytes(whole)
        )
        looking = SecretWatch()
        looking.look(content)
        assert looking.mark == watch.mark
    assert sum(watch.mark.secrets.values()) + watch.mark.hidden == hiding.mark.hidden


def test_hiding_twice_changes_nothing_where_blocks_part_secrets() -> None:
    """For longer texts with secrets on both sides of a block's end one in a hundred used to change."""
    dice = random.Random(7)
    behind = "a line of no interest\n" * 1_200
    for _ in range(40):
        parts = ("".join(dice.choice(dice.choice((PIECES, JOINTS))) for _ in range(dice.randint(1, 8))) for _ in "1234")
        content = ("\n".join(parts) + "\n" + behind).encode()
        block = dice.choice((50, 100, 200, 500))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(marks, "_BLOCK_BYTES", block)
            patch.setattr(marks, "_WINDOW_BYTES", block + 20_000)
            clean = redacted_bytes(content)
            assert redacted_bytes(clean) == clean
        assert redacted(clean.decode()).encode() == clean


def test_a_token_whose_header_ends_in_the_next_block_is_hidden_whole() -> None:
    """The part that identifies it comes after the end of the block in which it begins."""
    token = b"eyJ" + b"aB3" * 5_000 + b".eyJ" + b"aB3" * 9 + b".aB3dE5fG7h\n"
    before = (b"word " * 110_000)[: marks._BLOCK_BYTES - 100] + b" "
    clean = redacted_bytes(before + token + LINES * 10)
    assert clean == before + b"[redacted: JWT, %d characters]\n" % (len(token) - 1) + LINES * 10


def test_a_secret_before_its_hint_is_seen() -> None:
    """The header of a token may be a page long, and a manifest's values come before the word that makes them secret."""
    lines = LINES * 40
    header = b"eyJ" + b"aB3" * 5_000
    token = header + b".eyJ" + b"aB3" * 9 + b".aB3dE5fG7h\n"
    manifest = b"apiVersion: v1\ndata:\n  one: YWRtaW4tdXNlcg==\n" + b"  # and so on\n" * 200 + b"kind: Secret\n"
    for secret, kind in ((token, "JWT"), (manifest, "secret")):
        content = lines + secret + lines
        assert len(content) > marks._WINDOW_BYTES
        watch, passing = SecretWatch(), SecretWatch()
        watch.look(content)
        assert b"".join(passing.passed(parts_of(content, 70_000))) == content
        assert watch.mark.secrets == passing.mark.secrets == {kind: 1}


WINDOW = marks._WINDOW_BYTES


@pytest.mark.parametrize(
    ("sizes", "threads"),
    [((WINDOW,), 0), ((WINDOW, 1), 1), ((WINDOW, 1, WINDOW - 1), 1), ((WINDOW, 1, WINDOW - 1, 1), 2)],
)
def test_content_longer_than_a_window_is_searched_in_threads(
    sizes: tuple[int, ...], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread starts once more than a window has arrived, and the next one once more than a second window has."""
    started: list[Callable[[], None]] = []

    def start(run: Callable[[], None], _: tuple[()]) -> None:
        started.append(run)
        run()

    monkeypatch.setattr(marks, "start_new_thread", start)
    assert b"".join(SecretWatch().passed(b"a" * size for size in sizes)) == b"a" * sum(sizes)
    assert len(started) == threads
    started.clear()
    SecretWatch().look(b"a" * sum(sizes))
    assert len(started) == (sum(sizes) > WINDOW)


@pytest.mark.parametrize(("size", "looks"), [(0, 0), (WINDOW, 1), (WINDOW + 1, 2)])
@pytest.mark.parametrize("hides", [True, False])
def test_a_window_is_searched_once(size: int, looks: int, monkeypatch: pytest.MonkeyPatch, *, hides: bool) -> None:
    """Content that fits in a window is not searched in parts."""
    seen: list[int] = []

    def look(content: bytes, until: int) -> int:
        seen.append(until)
        return first_hint(content, until)

    monkeypatch.setattr(marks, "first_hint", look)
    for _ in SecretWatch(hides=hides).passed([b"a" * size]):
        pass
    assert len(seen) == looks


def test_a_failure_of_a_searching_thread_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed search must not become a mark of content without secrets."""

    def broken(content: bytes, until: int) -> int:
        raise MemoryError(len(content), until)

    monkeypatch.setattr(marks, "first_hint", broken)
    watch = SecretWatch()
    watch.look(LINES * 40)
    assert watch.is_done
    with pytest.raises(MemoryError):
        _ = watch.mark


# ── redacted forms only ──────────────────────────────────────────────────────────────────────────────────────────


def test_a_key_that_one_block_gives_away_is_hidden_in_those_behind() -> None:
    """An output names a key once and repeats it bare megabytes later, where nothing else would give it away."""
    key = b"7f3kQ9zL2mX8vB4nT6wY"
    quiet = b"a line of no interest\n" * 100_000
    content = b"API_TOKEN=" + key + b"\n" + quiet + b"GET /items/" + key + b"\n" + quiet
    for size in (999, 1 << 20):
        watch = SecretWatch(hides=True)
        shown = b"".join(watch.passed(parts_of(content, size)))
        assert shown == content.replace(key, b"[redacted: secret, 20 characters]")
        assert watch.mark.hidden == 2
        seen = SecretWatch()
        assert b"".join(seen.passed(parts_of(content, size))) == content
        assert seen.mark.secrets == {"secret": 2}


@pytest.mark.parametrize("how", ["bytes", "stream", "many"])
def test_a_store_of_redacted_forms_holds_no_byte_of_a_secret(tmp_path: Path, how: str) -> None:
    """Its name has none either, and the same content later gives the same artifact."""
    path = tmp_path / "s"
    with closing(open_store(str(path), keeps_redacted=True)) as store:
        name = f"curl -u me:{'hunter2hunter2'}"
        ways: dict[str, Callable[[], str]] = {
            "bytes": lambda: store.put(HELD, name=name, kind=f"made by {KEY.decode()}"),
            "stream": lambda: store.put(parts_of(HELD), name=name),
            "many": lambda: store.put_many([(HELD, name), (b"x", name)])[0],
        }
        handle = ways[how]()
        assert ways[how]() == handle
        info = store.info(handle)
        kept = store.read(handle, 0, 1 << 20)
        assert (info.secrets, info.hidden, info.bytes) == ({}, 3, len(kept))
        assert kept == redacted_bytes(HELD)
        assert "hunter2" not in info.name
        files = b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file())
        assert not [secret for secret in (TOKEN, KEY, b"hunter2hunter2") if secret in files]


def test_pages_and_finds_of_what_is_hidden_are_true(tmp_path: Path) -> None:
    """Places are those of the kept form, and the header says that secrets are hidden."""
    with closing(open_store(str(tmp_path / "s"), keeps_redacted=True)) as store:
        handle = store.put(HELD)
        whole, at = b"", 0
        while at < store.info(handle).bytes:
            page = pages.cut(store, handle, start_byte=at, max_bytes=7_000)
            whole += page.text.encode()
            at = page.end_byte
        assert whole == redacted_bytes(HELD)
        shown = pages.page(store, handle, offset=2_000, limit=1).text
        assert "token [redacted: GitHub token, 40 characters]" in shown
        assert "3 secrets are hidden in it" in shown.splitlines()[0]
        found = finding.scan(store, handle, "redacted: AWS")
        place = found.matches[0].start_byte
        assert store.read(handle, place, 24) == b"key [redacted: AWS key, "
        assert "3 secrets are hidden in it" in finding.find(store, handle, "AWS").text
        assert "hidden" not in pages.page(store, store.put(b"x\n")).text


def after_the_head(text: str) -> str:
    """Return the beginning that a guarded text shows."""
    return text.split("\n", 3)[3].split("\n[…", 1)[0]


def test_what_is_shown_of_what_is_kept_is_a_part_of_it(tmp_path: Path) -> None:
    """The next page therefore continues where it ends."""
    secret = b"".join(b"line %d %b\n" % (n, TOKEN) for n in range(4_000))
    with closing(open_store(str(tmp_path / "s"), keeps_redacted=True)) as store:
        cut = output.guard_output(secret.decode(), "job", store=store)
        watch = SecretWatch(hides=True)
        allowance = Allowance.chars(2_000)
        passed = stream.drain(watch.passed(parts_of(secret)), allowance, open_store=lambda: store, name="job")
        for result in (cut, passed.result):
            assert result.handle is not None
            kept = store.read(result.handle, 0, 1 << 20).decode()
            assert TOKEN.decode() not in result
            assert kept == redacted(secret.decode())
            assert result.whole_bytes == len(kept)
            assert after_the_head(result) in kept


def test_what_came_before_an_output_broke_off_is_kept(tmp_path: Path) -> None:
    """This holds also if secrets are hidden on arrival."""

    def parts() -> Iterator[bytes]:
        yield from parts_of(HELD)
        raise OSError("the pipe is gone")

    with closing(open_store(str(tmp_path / "s"), keeps_redacted=True)) as store:
        passed = stream.drain(SecretWatch(hides=True).passed(parts()), Allowance.chars(1_000), open_store=lambda: store)
        assert store.read(passed.handles[0], 0, 1 << 20) == redacted_bytes(HELD)
        assert "the pipe is gone" in passed.fault


def test_a_callers_own_store_need_not_know_of_it(store: Tables) -> None:
    """A store with only `put` and `info`, written before redaction existed, is given the plain content."""

    class Own:
        put, info = store.put, store.info

    own: Any = Own()
    handle = output.guard_output(HELD.decode(), store=own).handle
    assert handle is not None
    assert store.read(handle, 0, 1 << 20) == HELD


def test_the_environment_says_so_and_nobody_elses_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """`PENSTOCK_STORE_REDACT=1` holds for every command; a value other than 1 or 0 is refused."""
    assert default_redaction({"PENSTOCK_STORE_REDACT": "1"})
    assert not default_redaction({})
    with pytest.raises(CallerError, match="takes 1 or 0"):
        default_redaction({"PENSTOCK_STORE_REDACT": "yes"})
    monkeypatch.setenv("PENSTOCK_STORE_REDACT", "1")
    (tmp_path / "in").write_bytes(HELD)
    with open(tmp_path / "in", "rb") as source:
        monkeypatch.setattr("sys.stdin", source)
        assert main(["guard", "--chars", "500", "--store", str(tmp_path / "s")]) == 0
    handle = re.search(rb"penstock page (\w{22})", capfdbinary.readouterr().out)
    with closing(open_store(str(tmp_path / "s"))) as store:
        assert store.keeps_redacted
        assert handle is not None
        assert mark_in(store.read(handle[1].decode(), 0, 1 << 20).decode())
        assert [info.hidden for info in store.artifacts()] == [3]
