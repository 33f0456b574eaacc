"""How is an artifact read like a file? As a `ByteSource`; read errors are reported as a tool reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape, window

if TYPE_CHECKING:
    from penstock.store import ArtifactInfo, Store
    from penstock.text.window import Encoding


class Artifact:
    """An artifact as a `ByteSource`, so that windows are cut from it as from a file. Raises `ToolError` for an unknown handle."""

    def __init__(self, store: Store, handle: str) -> None:
        # A model may send anything: what cannot be a handle is distinguished from a handle that has gone.
        if not (handle.isascii() and handle.isalnum()):
            raise ToolError(
                "not_found",
                f'"{escape.clip(handle, 64)}" is not a handle: one is letters and digits. Copy it from the notice that named it.',
            )
        self.store = store
        self.info: ArtifactInfo = store.info(handle)
        self.handle = self.info.handle
        self.size_bytes = self.info.bytes

    def read(self, start_byte: int, count_bytes: int) -> bytes:
        """Return up to `count_bytes` from `start_byte` on."""
        return self.store.read(self.handle, start_byte, count_bytes)

    def encoding(self) -> Encoding:
        """Return the encoding that the first bytes indicate; what would be binary in a file is shown with escapes here."""
        return window.detect(self.read(0, window.BINARY_PROBE_BYTES)) or window.UTF8


def unreadable(fault: Exception) -> ToolError:
    """Return a fault of the store, or of opening it, as a model sees it."""
    again = " Call again later." if getattr(fault, "code", "") in {"busy", "unreachable"} else ""
    return ToolError("io_error", f"The artifact cannot be read: {escape.clip(str(fault), 400)}{again}")
