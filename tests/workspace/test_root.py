"""Is every known way out of a root closed, each with its reason?"""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from tests import printed
from tests.leftovers import nothing_left_open

from penstock import CallerError, ToolError, Tools, Workspace
from penstock.text import escape
from penstock.workspace import paths, refusals, system, writing
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.proves("L-8", "L-9")
SECRET = "content from outside"


def _lacking(*_: object) -> int:
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))


@pytest.fixture(params=["openat2", "walk", "walk without O_PATH", "paths"])
def confinement(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return each way to stay beneath a root: that of Linux, of Linux before 5.6, of macOS, of Windows."""
    if request.param == "openat2" and not system.openat2_works():
        pytest.skip("this kernel has no openat2")
    name, _, lacking = str(request.param).partition(" without ")
    if name != "openat2":
        monkeypatch.setattr(system, "openat2", _lacking)
    if lacking:
        monkeypatch.setattr(system, "PATH", 0)
        monkeypatch.setattr(system, "LOOK", system.PRIVATE)
    return name


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Provide a root with a neighbour, links of every kind, and special files."""
    outside = tmp_path / "root-evil"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "a.txt").write_text("inside\n")
    (root / "sub" / "b.txt").write_text("below\n")
    (root / "inner").symlink_to("sub/b.txt")
    (root / "absolute").symlink_to(root / "a.txt")
    (root / "out").symlink_to(outside / "secret.txt")
    (root / "out-relative").symlink_to("../root-evil/secret.txt")
    (root / "out-folder").symlink_to(outside)
    (root / "up").symlink_to("..")
    (root / "loop").symlink_to("loop")
    (root / "ping").symlink_to("pong")
    (root / "pong").symlink_to("ping")
    (root / "dangling").symlink_to("nothing")
    os.mkfifo(root / "fifo")
    return root


@pytest.fixture
def tools(tree: Path, confinement: str) -> Tools:
    """Return the tools over it."""
    return Tools(Workspace(tree, confinement=confinement))


OUT = [
    "../root-evil/secret.txt",
    "sub/../../root-evil/secret.txt",
    "..",
    "/etc/passwd",
    "/",
    "//etc/passwd",
    "\\x2e\\x2e/root-evil/secret.txt",
    "..\\x2froot-evil\\x2fsecret.txt",
    "out",
    "out-relative",
    "out-folder/secret.txt",
    "up/root-evil/secret.txt",
    "absolute",
]


@pytest.mark.parametrize("path", OUT)
@pytest.mark.parametrize("tool", ["view", "read_file", "outline"])
def test_nothing_outside_is_read_or_named(tools: Tools, tree: Path, tool: str, path: str) -> None:
    """Parents, absolute paths, links out and escapes of dots are refused with the reason, and nothing outside is mentioned."""
    name = "file_path" if tool == "view" else "path"
    result = tools.call(tool, {name: path})
    assert (result.is_error, result.code) == (True, "outside_root")
    assert SECRET not in result.text
    assert str(tree.parent) not in result.text.replace(path, "")
    result = tools.call(tool, {name: str(tree.parent / "root-evil" / "secret.txt")})
    assert (result.is_error, result.code) == (True, "outside_root")


def test_paths_beneath_the_root_open_in_every_form(tools: Tools, tree: Path) -> None:
    """Relative, absolute, with dots or doubled slashes, it is the same file."""
    for path in (
        "a.txt",
        "./a.txt",
        "sub/../a.txt",
        "sub//../a.txt",
        str(tree / "a.txt"),
        f"{tree}/sub/../a.txt",
        "\\x61.txt",
    ):
        assert tools.view(path).startswith("a.txt: showing lines 1-1 of 1 total"), path


def test_paths_of_windows_mean_files_beneath_the_root_only(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Backslashes separate and a root's case is ignored; streams, drives, devices and trailing dots are not names."""
    root = Root(tree, confinement="paths")
    monkeypatch.setattr(paths, "HAS_BACKSLASHES", True)
    written = str(tree).replace("/", "\\")
    for path in (
        "sub\\b.txt",
        "sub/b.txt",
        ".\\sub\\..\\sub\\b.txt",
        f"{written}\\sub\\b.txt",
        f"{written.upper()}\\sub/b.txt",
    ):
        assert root.relative(path) == b"sub/b.txt", path
    for path in (
        "..\\root-evil\\secret.txt",
        "C:\\secret.txt",
        "\\\\host\\share\\secret.txt",
        f"{written}-evil\\secret.txt",
    ):
        with pytest.raises(ToolError) as refused:
            root.relative(path)
        assert refused.value.code == "outside_root", path
    for path in ("a.txt:hidden", "sub\\NUL", "con.txt", "a.txt.", "a.txt ", "COM1", "lpt9.log"):
        with pytest.raises(ToolError, match="another meaning"):
            root.relative(path)
    assert root.relative("sub\\console.txt") == b"sub/console.txt"


def test_a_link_inside_is_followed_if_the_kernel_can_hold_it_beneath(tree: Path, confinement: str) -> None:
    """`openat2` follows it; the walk, which cannot, says that it does not follow."""
    result = Tools(Workspace(tree, confinement=confinement)).call("view", {"file_path": "inner"})
    assert (result.code, "1|below" in result.text) == (
        (None, True) if confinement == "openat2" else ("outside_root", False)
    )


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("loop", {"link_loop", "outside_root"}),
        ("ping", {"link_loop", "outside_root"}),
        ("dangling", {"not_found", "outside_root"}),
        ("loop/x", {"link_loop", "outside_root", "not_found"}),
        ("nothing", {"not_found"}),
        ("a.txt/x", {"not_found"}),
        ("%2e%2e/root-evil/secret.txt", {"not_found"}),
        ("x" * 256, {"path_too_long"}),
        ("x/" * 40_000, {"path_too_long"}),
        ("", {"bad_argument"}),
        ("a\0b", {"bad_argument"}),
        ("\ud800", {"bad_argument"}),
        (".", {"is_directory"}),
        ("sub", {"is_directory"}),
        ("fifo", {"not_regular_file"}),
        ("fifo/x", {"not_found"}),
    ],
)
def test_what_cannot_be_opened_is_refused_by_name(tools: Tools, path: str, codes: set[str]) -> None:
    """There is a code of the closed list, and at most 256 bytes of the path."""
    for tool, name in (("view", "file_path"), ("read_file", "path"), ("outline", "path")):
        result = tools.call(tool, {name: path})
        assert result.is_error
        assert result.code in codes
        assert len(result.text) < 700


def _opens(folder: int, name: bytes) -> bool:
    try:
        os.close(system.openat2(folder, name, system.LOOK, system.BENEATH))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not system.openat2_works(), reason="this kernel has no openat2")
def test_a_chain_of_links_is_not_a_loop_while_the_folder_is_renamed(tmp_path: Path) -> None:
    """A lookup disturbed by a rename counts its links twice; without a retry one in twelve failed here."""
    folder = tmp_path / "chain"
    folder.mkdir()
    for step in range(40):
        (folder / f"step-{step}").symlink_to(f"step-{step + 1}")
    (folder / "step-40").write_text("the end of the chain\n")
    renaming = "import os, time\nwhile True: os.rename('chain', 'other'); os.rename('other', 'chain'); time.sleep(2e-5)"
    handle = os.open(folder, system.FOLDER)
    other = subprocess.Popen([sys.executable, "-c", renaming], cwd=tmp_path)
    tried = failed = 0
    try:
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            tried += 1
            failed += not _opens(handle, b"step-0")
    finally:
        other.kill()
        other.wait()
        os.close(handle)
    assert failed <= tried / 1_000


def test_special_files_are_never_opened(tree: Path, confinement: str) -> None:
    """A FIFO with a writer, a socket and devices are refused at once by their kind (H1)."""
    tools = Tools(Workspace(tree, confinement=confinement))
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.getcwd()
        os.chdir(tree)  # the path of a socket is at most 107 bytes
        try:
            listening.bind("socket")
        finally:
            os.chdir(here)
        kinds = {"fifo": "fifo", "socket": "socket"}
        try:
            os.mknod(tree / "zero", 0o666 | 0o020000, os.makedev(1, 5))
            os.mknod(tree / "block", 0o666 | 0o060000, os.makedev(7, 0))
        except PermissionError:
            pass  # without rights: the first two are tried
        else:
            kinds |= {"zero": "character device", "block": "block device"}
        for name, kind in kinds.items():
            for call in (tools.view, tools.read_file, tools.outline):
                text = call(name)
                assert text == f"not_regular_file: {kind}. {name} was not opened. Try: list_files()"
    with pytest.raises(BlockingIOError):
        os.read(os.open(tree / "fifo", os.O_RDWR | os.O_NONBLOCK), 1)


def test_a_writer_of_a_fifo_is_not_woken(tree: Path, confinement: str) -> None:
    """Opening a FIFO, even without waiting, would unblock its writer; a stat does not (H1)."""
    woken = threading.Event()

    def write() -> None:
        os.close(os.open(tree / "fifo", os.O_WRONLY))
        woken.set()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    time.sleep(0.05)
    assert "fifo" in Tools(Workspace(tree, confinement=confinement)).view("fifo")
    assert not woken.wait(0.05)
    os.close(os.open(tree / "fifo", os.O_RDONLY))  # now it may
    assert woken.wait(10)


HOSTILE = [
    b"new\nline.txt",
    b"\x1b[31mred.txt",
    b"\xff\xfe\x80.txt",
    b"e\xcc\x81",
    "\u202etxt.exe".encode(),
    b"n" * 255,
    b"\xff" * 255,
    b"-rf",
    b" spaces ",
    b"$(id)",
    b"%2e%2e",
    b"back\\x41slash",
    b"a: showing lines 1-1 of 1 total | next: view(file_path=x)",
    b"[Files 1-2 of 2]",
    b"quote\"'.txt",
]


@pytest.mark.proves("L-10")
@pytest.mark.parametrize("name", HOSTILE)
def test_the_shown_form_of_every_name_opens_the_file(tmp_path: Path, confinement: str, name: bytes) -> None:
    """What a header or a printed call shows is accepted back, and forges no header (H13)."""
    with open(os.fsencode(tmp_path) + b"/" + name, "wb") as file:
        file.write(b"first\nsecond\n")
    tools = Tools(Workspace(tmp_path, confinement=confinement))
    text = tools.view(escape.show_name(name), limit=1)
    header, body = text.split("\n")
    assert body == "1|first"
    assert header.isprintable()
    title = header[: header.index(": ")]
    if len(escape.show_name(name)) <= 256:
        assert tools.view(title, limit=1) == text
    following = printed.header(text).next
    assert following is not None
    assert printed.body(printed.follow(tools, following)) == "2|second"


def test_a_name_that_is_written_like_an_escape_is_found(tmp_path: Path) -> None:
    r"""The file `a\x41` opens by its plain name if there is no file `aA`, and always by its shown name."""
    (tmp_path / "a\\x41").write_text("plain\n")
    tools = Tools(tmp_path)
    assert "1|plain" in tools.view("a\\x41")
    (tmp_path / "aA").write_text("twin\n")
    assert "1|twin" in tools.view("a\\x41")
    assert "1|plain" in tools.view("a\\x5cx41")


def test_a_file_deeper_than_a_path_of_the_kernel_is_read(tmp_path: Path, confinement: str) -> None:
    """It is 12,400 bytes down and opened in pieces, by the path that a listing prints (H14)."""
    if confinement == "paths":
        pytest.skip("a path in one piece is as long as the system takes it")
    at, part = os.open(tmp_path, os.O_RDONLY), "d" * 200
    for _ in range(62):
        os.mkdir(part, dir_fd=at)
        inner = os.open(part, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    with os.fdopen(os.open("deep.txt", os.O_WRONLY | os.O_CREAT, dir_fd=at), "w") as file:
        file.write("deep\n")
    os.close(at)
    path = "/".join([part] * 62 + ["deep.txt"])
    tools = Tools(Workspace(tmp_path, confinement=confinement))
    with nothing_left_open():
        text = tools.view(path)
    assert text.endswith("\n1|deep")
    assert len(text) < 1000


SECRETS = [
    ".env",
    ".env.local",
    "server.pem",
    "SERVER.PEM",
    "id_rsa",
    ".netrc",
    ".git/config",
    ".aws/credentials",
    ".ssh/known",
    ".ssh/a/b\nc",
]


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_refused_by_name_unless_allowed(tmp_path: Path, confinement: str, name: str) -> None:
    """They are asked for by their own name or by another; the reason is given, the content never."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text("password\n")
    (tmp_path / "innocent").symlink_to(name)
    tools = Tools(Workspace(tmp_path, confinement=confinement))
    for asked in (
        escape.show_name(name),
        "innocent",
        "./" + escape.show_name(name),
        escape.show_name(name).replace("e", "\\x65", 1),
    ):
        result = tools.call("view", {"file_path": asked})
        expected = {"secret"} if asked != "innocent" or confinement == "openat2" else {"outside_root"}
        assert {result.code} == expected
        assert "password" not in result.text
    allowed = Tools(Workspace(tmp_path, allow_secrets=True))
    assert "1|password" in allowed.view(escape.show_name(name))


def test_a_renamed_root_still_knows_its_secrets(tmp_path: Path) -> None:
    """A link to a secret is resolved beneath the root, even if the root was renamed."""
    root = tmp_path / "root"
    root.mkdir()
    (root / ".env").write_text("password\n")
    (root / "link").symlink_to(".env")
    tools = Tools(root)
    root.rename(tmp_path / "moved")
    assert tools.call("view", {"file_path": "link"}).code in {"secret", "outside_root"}


@pytest.mark.parametrize("name", ["environment.py", "monkey.txt", "idea.txt", "id_map.py", "keyboard", "config"])
def test_ordinary_names_are_not_secrets(tmp_path: Path, name: str) -> None:
    """The rule is narrow."""
    (tmp_path / name).write_text("text\n")
    assert "1|text" in Tools(tmp_path).view(name)


def test_a_mount_is_crossed_only_when_allowed(confinement: str) -> None:
    """A file system mounted inside the root is a gap that staying beneath does not close (H2)."""
    root = "/"
    result = Tools(Workspace(root, confinement=confinement)).call("view", {"file_path": "proc/version"})
    assert result.code == "outside_root"
    text = Tools(Workspace(root, allow_mounts=True, confinement=confinement)).view("proc/version")
    assert "1|Linux" in text
    assert "the file system states no size" in text


def test_a_file_without_a_stated_size_is_read(tmp_path: Path) -> None:
    """In /proc every file states 0 bytes; what it holds is shown and counted (H2)."""
    tools = Tools(Workspace("/proc/self", allow_mounts=True))
    text = tools.view("status", limit=1)
    assert "showing lines 1-1 of 0" not in text
    assert text.split("\n")[1].startswith("1|Name:")
    assert "1|Name:" not in tools.read_file("status", start_line=2, end_line=3)


def test_an_invalid_root_is_the_programmers_mistake(tmp_path: Path) -> None:
    """It is a missing folder, a file, or an unknown confinement; the system's reason is given once."""
    (tmp_path / "file").write_text("")
    for confinement in ("auto", "paths"):
        for path, said in (
            (tmp_path / "nothing", r"No such file or directory\."),
            (tmp_path / "file", r"Not a directory\."),
            ("a\0b", "[a-z].*null.*"),
        ):
            with nothing_left_open(), pytest.raises(CallerError, match=f"^The root .* cannot be used: {said}$"):
                Root(path, confinement=confinement)
    with pytest.raises(CallerError, match="openat2, walk, paths or auto"):
        Root(tmp_path, confinement="none")


def test_a_file_swapped_for_a_link_between_look_and_open_is_not_followed(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the check only the descriptor counts, so the swap changes nothing."""
    root = Root(tree)
    real = root._handle

    def look(relative: bytes) -> int:
        found = real(relative)
        (tree / "a.txt").unlink()
        (tree / "a.txt").symlink_to("../root-evil/secret.txt")
        return found

    monkeypatch.setattr(root, "_handle", look)
    file = root.open_file(b"a.txt")
    assert os.read(file.descriptor, 99) == b"inside\n"
    file.close()


@pytest.mark.parametrize("what", ["file", "folder"])
def test_without_handles_only_the_checked_file_is_opened(
    tree: Path, confinement: str, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A file, or the folder above it, is swapped between check and open: refused, or the file that was checked."""
    if confinement != "paths" and system.PATH:
        pytest.skip("it has handles")
    root = Root(tree, confinement=confinement)
    real = root._looked

    def swapped(folder: system.Folder, name: bytes | str) -> os.stat_result:
        status = real(folder, name)
        if name == b"b.txt" and (tree / "sub").is_dir() and not (tree / "sub").is_symlink():
            if what == "file":
                (tree / "sub" / "b.txt").unlink()
                (tree / "sub" / "b.txt").symlink_to("../../root-evil/secret.txt")
            else:
                (tree / "sub").rename(tree / "away")
                (tree.parent / "root-evil" / "b.txt").write_text(SECRET)
                (tree / "sub").symlink_to("../root-evil")
        return status

    monkeypatch.setattr(root, "_looked", swapped)
    if what == "folder" and confinement == "walk":  # the folder is open: what is at its path does not matter
        file = root.open_file(b"sub/b.txt")
        assert os.read(file.descriptor, 99) == b"below\n"
        file.close()
        return
    with pytest.raises(ToolError) as refused:
        root.open_file(b"sub/b.txt")
    assert refused.value.code in {"path_changing", "link_loop", "outside_root"}


def test_without_proc_the_second_resolution_must_find_the_same_file(
    tree: Path, confinement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If /proc is not mounted, the file is resolved twice and compared."""
    if confinement == "paths":
        pytest.skip("nothing is opened by a handle there")
    root = Root(tree, confinement=confinement)
    real = os.open

    def no_proc(path: object, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if isinstance(path, bytes) and path.startswith(b"/proc/self/fd/"):
            raise FileNotFoundError(2, "No such file or directory")
        return real(path, flags, mode, dir_fd=dir_fd)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", no_proc)
    file = root.open_file(b"inner" if confinement == "openat2" else b"sub/b.txt")
    assert os.read(file.descriptor, 99) == b"below\n"
    file.close()
    handle, status = root._handle(b"a.txt"), root.look(b"a.txt")
    with nothing_left_open(), pytest.raises(OSError, match="changing"):
        root._reopen(handle, status, b"sub/b.txt")
    os.close(handle)


def test_a_new_file_is_not_made_through_a_link(tree: Path, confinement: str) -> None:
    """A dangling link has the name: the error says that it is a link, and its target is not made."""
    (tree / "nowhere").symlink_to("made")
    root = Root(tree, confinement=confinement)
    with pytest.raises(ToolError, match="by a link"):
        writing.replace_file(root, b"nowhere", b"new", None)
    assert not (tree / "made").exists()


def test_no_descriptor_is_left_behind(tools: Tools) -> None:
    """Answers and refusals of every kind close what they opened."""
    paths = ["a.txt", "inner", "out", "loop", "nothing", "sub", "fifo", "..", "sub/b.txt", "x" * 300]
    for path in paths:
        tools.read_file(path)
    with nothing_left_open():
        for path in paths * 3:
            tools.view(path)
            tools.read_file(path, start_byte=0)
            tools.outline(path)


def test_permission_denied_is_said(confinement: str) -> None:
    """A user without all rights gets the system's refusal with the name; what may be read is read."""
    code = (
        "import ctypes, os, sys; from penstock import Tools, Workspace\n"
        "tools = Tools(Workspace(sys.argv[1], confinement=sys.argv[2]))\n"
        "first = tools.view('open').splitlines()[1:]  # loads what there is to load\n"
        "if os.geteuid() == 0: os.setuid(65534); ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE: /proc/self is ours again\n"
        "print(first == tools.view('open').splitlines()[1:] == ['1|text'])\n"
        "print(tools.call('view', {'file_path': 'private'}), tools.call('view', {'file_path': 'folder/x'}).code)"
    )
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        for name, mode in (("open", 0o644), ("private", 0)):
            with os.fdopen(os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY, mode), "w") as file:
                file.write("text\n")
        os.mkdir(f"{folder}/folder", 0o600)
        command = [sys.executable, "-c", code, folder, confinement]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        os.chmod(f"{folder}/folder", 0o700)
    assert done.stdout.startswith("True\n"), done.stderr
    assert done.stdout.strip().endswith("denied")
    assert "Permission denied: private." in done.stdout


@pytest.mark.parametrize(
    ("number", "code"),
    [(1, "denied"), (5, "io_error"), (11, "path_changing"), (13, "denied"), (40, "link_loop"), (6, "not_regular_file")],
)
def test_every_error_of_the_system_has_a_code(number: int, code: str) -> None:
    """An unknown error is an `io_error` in the system's words."""
    error = refusals.refusal(OSError(number, os.strerror(number)), b"some\nfile")
    assert isinstance(error, ToolError)
    assert error.code == code
    assert "some\\x0afile" in error.message


def test_no_way_of_looking_leaves_anything_open(tmp_path: Path, confinement: str) -> None:
    """Existing, missing, and too deeply nested paths are tried."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "f").write_text("x")
    root = Root(tmp_path, confinement=confinement)
    with nothing_left_open():
        for path in (b"folder/f", b"folder", b"none", b"folder/f/none", b"d/" * 3_000 + b"d"):
            with suppress(OSError, ToolError):
                root.look(path)
            with suppress(OSError, ToolError):
                root.open_file(path).close()
    root.close()


def test_a_pipe_in_a_listed_folder_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If folders have no descriptors the stat comes first: opening a pipe would already notify its writer."""
    os.mkfifo(tmp_path / "pipe")
    with closing(Root(tmp_path)) as root:
        monkeypatch.setattr(os, "open", mock.Mock(side_effect=AssertionError("it was opened")))
        with pytest.raises(OSError, match="not a regular file"):
            root.open_entry(str(tmp_path), "pipe")


def test_a_folder_on_another_mount_is_closed_again(tmp_path: Path) -> None:
    """A walk meets many of them."""
    (tmp_path / "below").mkdir()
    with closing(Root(tmp_path, confinement="walk")) as root:
        root.device += 1  # as if everything here were on another
        with nothing_left_open(), pytest.raises(OSError, match=os.strerror(errno.EXDEV)):
            root.open_subfolder(root.descriptor, "below")


def test_a_folder_is_opened_or_refused_by_what_it_is(tree: Path, confinement: str) -> None:
    """These are the root and folders beneath it; files, pipes and links out are refused; and nothing stays open."""
    refused = {
        b"a.txt": "not_directory",
        b"fifo": "not_directory",
        b".env": "not_directory",
        b"nothing": "not_found",
        b"out-folder": "outside_root",
        b"out-folder/x": "outside_root",
        b"a.txt/x": "not_found",
    }
    (tree / ".env").write_text("KEY=1\n")
    with nothing_left_open(), closing(Root(tree, confinement=confinement)) as root:
        for path, held in ((b".", "a.txt"), (b"sub", "b.txt")):
            folder = root.open_folder(path)
            assert held in os.listdir(folder)
            os.close(root.open_entry(folder, held))
            with pytest.raises(OSError, match=r"\[Errno"):
                root.open_subfolder(folder, held)
            system.close_folder(folder)
        top = root.open_folder(b".")
        inner = root.open_subfolder(top, "sub")
        assert os.listdir(inner) == ["b.txt"]
        with pytest.raises(OSError, match="not a regular file"):
            root.open_entry(top, "fifo")
        for folder in (top, inner):
            system.close_folder(folder)
        codes = {}
        for path in refused:
            with pytest.raises(ToolError) as caught:
                root.open_folder(path)
            codes[path] = caught.value.code
            assert ("view" in str(caught.value.message) + str(caught.value.calls)) == (path == b"a.txt")
        assert codes == refused


def test_a_file_is_made_changed_and_removed_in_every_way(tree: Path, confinement: str) -> None:
    """Parent folders are made only for a new file; a refusal changes nothing and leaves nothing open."""
    path, file = b"new/deep/f.txt", tree / "new" / "deep" / "f.txt"

    def code(act: Callable[[], object]) -> str:
        with pytest.raises(ToolError) as caught:
            act()
        return caught.value.code

    with nothing_left_open(), closing(Root(tree, confinement=confinement)) as root:
        with writing.alone_with(root, path) as held:
            assert held is None
        assert code(lambda: writing.replace_file(root, path, b"0", b"known")) == "not_found"
        assert code(lambda: writing.remove_file(root, path, b"known")) == "not_found"
        assert not (tree / "new").exists()
        with mock.patch.object(system, "flush_folder", wraps=system.flush_folder) as flush:
            assert writing.replace_file(root, path, b"1", None) == ()
        assert flush.call_count == 3, "the root, which has `new`, that, which has `deep`, and that"
        assert code(lambda: writing.replace_file(root, path, b"2", None)) == "stale"
        with writing.alone_with(root, path) as held:
            assert held is not None
            assert writing.replace_file(root, path, b"2", b"1", folder=held) == ()
        assert writing.replace_file(root, path, b"3", b"2") == ()
        assert code(lambda: writing.replace_file(root, path, b"4", b"2")) == "stale"
        assert code(lambda: writing.remove_file(root, path, b"2")) == "stale"
        assert file.read_bytes() == b"3"
        writing.remove_file(root, path, b"3")
        assert os.listdir(file.parent) == []
        assert code(lambda: writing.replace_file(root, b".env", b"5", None)) == "secret"
        for above, says in ((b"a.txt", "not_found"), (b"fifo", "not_found"), (b"out-folder", "outside_root")):
            assert code(partial(writing.replace_file, root, above + b"/x", b"6", None)) == says
    assert os.listdir(tree.parent / "root-evil") == ["secret.txt"]
    assert (tree / "a.txt").read_text() == "inside\n"


def test_a_root_is_closed_by_its_last_holder(tmp_path: Path) -> None:
    """It is closed once, and by itself if nobody does it; its number may be 0."""
    with nothing_left_open():
        Root(tmp_path).__del__()
    first = os.dup(0)
    try:
        os.close(0)
        root = Root(tmp_path, confinement="walk")
        assert root.descriptor == 0
        root.close()
        root.close()
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(0)
    finally:
        os.dup2(first, 0)
        os.close(first)


def test_a_glob_that_is_written_out_is_tied_to_its_folder(tree: Path) -> None:
    """Its folder is written as given or resolved; another folder, or the folder itself, stays as it is."""
    (tree.parent / "given").symlink_to(tree)
    root = Root(tree.parent / "given")
    for base in (tree, tree.parent / "given"):
        assert root.tied(f"{base}/sub/*.txt", "sub") == "*.txt"
        assert root.tied(f"{base}/sub/*.txt", ".") == "sub/*.txt"
        for glob in (f"{base}/sub/", f"{base}/other/*.txt", "sub/*.txt"):
            assert root.tied(glob, "sub") == glob


def test_what_was_looked_at_and_nothing_else_is_opened(tree: Path, confinement: str) -> None:
    """A file that took its name is not opened, nor the same one if the folder above became a link meanwhile."""
    if confinement == "openat2" or (confinement == "walk" and system.PATH):
        pytest.skip("it has handles")
    root, open_one = Root(tree, confinement=confinement), os.open

    def exchanged(*arguments: Any, **named: Any) -> int:
        if arguments[0] in {"b.txt", b"b.txt", str(tree / "sub" / "b.txt")}:
            (tree / "a.txt").replace(tree / "sub" / "b.txt")
        return open_one(*arguments, **named)

    def moved(*arguments: Any, **named: Any) -> int:
        if str(arguments[0]).endswith("b.txt") and not (tree / "aside").exists():
            (tree / "sub").rename(tree / "aside")
            (tree / "sub").symlink_to("aside")
        return open_one(*arguments, **named)

    for swapped in (exchanged, moved) if confinement == "paths" else (exchanged,):
        with mock.patch.object(os, "open", swapped), nothing_left_open(), pytest.raises(ToolError) as caught:
            root.open_file(b"sub/b.txt")
        assert caught.value.code == "path_changing"


def test_what_is_on_another_mount_is_not_opened_and_nothing_stays_open(tree: Path, confinement: str) -> None:
    """It opens if mounts may be crossed."""
    if confinement == "openat2":
        pytest.skip("it asks the kernel, which sees no mount here")
    for allowed in (True, False):
        root = Root(tree, confinement=confinement, allow_mounts=allowed)
        folder = root.open_folder(b".")
        root.device += 1  # as if everything here were on another
        with nothing_left_open():
            for path in (b"a.txt", b"sub/b.txt"):
                with nullcontext() if allowed else pytest.raises(OSError, match="a link or a mount"):
                    root.look(path)
            if confinement == "walk":
                with nullcontext() if allowed else pytest.raises(OSError, match="not a regular file"):
                    os.close(root.open_entry(folder, "a.txt"))
        system.close_folder(folder)
