"""How are large contents kept as objects of S3 and the like? In parts of one size, each created once and never replaced.

The location of a content is an address, `s3://bucket/folder/KEY`, with a key that was never used before; its parts are
`KEY/00000000` and so on. A part is created on the condition that it does not exist, so that two writers can never mix. Parts are
used rather than multipart uploads, because an upload that a kill interrupts is kept, and paid for, where no listing shows it; and
because a part is what one process holds in memory. Laws: an object that exists is whole; removal removes every part. Leaves to
others: which contents are objects, and which are unreferenced (`places`).
"""

from __future__ import annotations

import os
import re
import secrets
from typing import TYPE_CHECKING, Any, Final

from penstock.errors import CallerError
from penstock.store.kept import StoreFault
from penstock.text import escape
from penstock.text.redaction import redacted

if TYPE_CHECKING:
    from obstore.store import ObjectStore

LARGE_BYTES: Final = 1 << 20
"""The size from which a content becomes an object: a request for one takes longer than a row, and costs money."""
PART_BYTES: Final = 8 << 20
"""The size of every part but the last: what a writer holds in memory."""
_CONNECT_SECONDS, _REQUEST_SECONDS, _TRIES = 5, 60, 3
# It names a folder, so that nothing else in the bucket is touched. It contains no keys or passwords, because it is stored in rows.
_ADDRESS = re.compile(r"(?:s3|gs|az)://[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9._=-]+)*")


def is_object(place: str) -> bool:
    """Return whether a place is that of an object: the names of files and rows do not contain `://`."""
    return "://" in place


class ObjectStorage:
    """The folder of a bucket in which contents lie; threads may share it.

    Args:
        objects: The library's handle on that folder.
        url: Its address.
        large_bytes: The size from which a content is kept there.
    """

    def __init__(self, objects: ObjectStore, url: str, *, large_bytes: int = LARGE_BYTES) -> None:
        self._objects = objects
        self.url = url
        self.large_bytes = large_bytes

    def new_place(self) -> str:
        """Return a place that no content has had: the key reveals nothing of the content, as its digest would."""
        return f"{self.url}/{secrets.token_hex(16)}"

    def holds(self, place: str) -> bool:
        """Return whether a place lies in this folder."""
        return place.rpartition("/")[0] == self.url

    def read(self, place: str, start: int, count: int) -> bytes | None:
        """Return `count` bytes from `start` on; None if they are missing. Raises `StoreFault` (unreachable)."""
        import obstore

        found = []
        while count:
            number, at = divmod(start, PART_BYTES)
            length = min(count, PART_BYTES - at)
            try:
                found.append(
                    bytes(obstore.get_range(self._objects, _part(place, number), start=at, length=length)),
                )
            except FileNotFoundError:
                return None
            except Exception as error:  # for a part that ends before `at`, the error differs from server to server
                if self._ends_before(place, number, at):
                    return None
                raise self._fault(error) from error
            start += length
            count -= length
        return b"".join(found)

    def _ends_before(self, place: str, number: int, at: int) -> bool:
        import obstore

        try:
            return obstore.head(self._objects, _part(place, number))["size"] <= at
        except Exception:  # noqa: BLE001 - the first error says more
            return False

    def remove(self, place: str) -> None:
        """Remove every part of a content; does nothing if there is none. Raises `StoreFault` (unreachable)."""
        import obstore

        key = place.rpartition("/")[2]
        try:
            for listed in obstore.list(self._objects, prefix=key):
                obstore.delete(self._objects, [one["path"] for one in listed])
        except FileNotFoundError:  # somebody else removed it meanwhile
            pass
        except Exception as error:
            raise self._fault(error) from error

    def create(self, place: str, number: int, part: bytes) -> None:
        """Write a part that does not exist yet. Raises `StoreFault` (unreachable)."""
        import obstore
        from obstore.exceptions import AlreadyExistsError

        try:
            obstore.put(self._objects, _part(place, number), part, mode="create", use_multipart=False)
        except AlreadyExistsError:
            # The key is ours alone: so this was our own request, whose answer was lost, retried by the library.
            return
        except Exception as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> StoreFault:
        said = redacted(str(error).strip().partition("\n")[0])
        return StoreFault("unreachable", f"{self.url} cannot be used: {escape.clip(said, 300)}")


class ObjectWriter:
    """Writes one content, part by part.

    Args:
        storage: Where.
        place: Its place, made by `new_place`.
    """

    def __init__(self, storage: ObjectStorage, place: str) -> None:
        self._storage, self._place = storage, place
        self._held: list[bytes] = []
        self._bytes = self._parts = 0

    def write(self, piece: bytes) -> None:
        """Take the next piece, of a length that divides `PART_BYTES` unless it is the last."""
        self._held.append(piece)
        self._bytes += len(piece)
        if self._bytes >= PART_BYTES:
            self.close()

    def close(self) -> None:
        """Write what is left."""
        if self._held:
            self._storage.create(self._place, self._parts, b"".join(self._held))
            self._held, self._bytes = [], 0
            self._parts += 1


def open_objects(url: str) -> ObjectStorage:
    """Return the folder of a bucket; no request is made yet.

    Args:
        url: Its address: `s3://BUCKET/FOLDER`, or with `gs` or `az`. Keys, region and endpoint come from the environment, from the
            variables that the vendors' own programs read (`AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL`, …).

    Raises:
        CallerError: The address is invalid, or obstore is not installed.
    """
    if not _ADDRESS.fullmatch(url):
        raise CallerError(
            f"Objects are kept at s3://BUCKET/FOLDER (or gs://, az://), without keys in it, not at {escape.clip(redacted(url))}"
        )
    try:
        from obstore.store import from_url
    except ImportError:
        raise CallerError("Artifacts in an object store need obstore: pip install 'penstock[objects]'") from None
    # Options given here replace those that the library reads from the environment, including this one.
    is_plain = os.environ.get("AWS_ALLOW_HTTP", "").lower() in {"1", "true"}
    options: dict[str, Any] = {
        "client_options": {
            "timeout": f"{_REQUEST_SECONDS}s",
            "connect_timeout": f"{_CONNECT_SECONDS}s",
            "allow_http": is_plain,
        },
        "retry_config": {"max_retries": _TRIES},
    }
    try:
        return ObjectStorage(from_url(url, **options), url)
    except Exception as error:
        said = redacted(str(error).strip().partition("\n")[0])
        raise CallerError(f"{url} cannot be used: {escape.clip(said, 300)}") from error


def _part(place: str, number: int) -> str:
    """Return the name of a part within the folder."""
    return f"{place.rpartition('/')[2]}/{number:08d}"
