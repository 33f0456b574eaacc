"""How does a replacement file keep the old file's metadata? Owner, permissions, access lists and extended attributes are copied.

What cannot be copied is named, so that whoever asked for the edit learns of it. Law: no metadata is lost silently. Leaves to
others: names and content (`replacing`). Sources: xattr(7), acl(5), fcopyfile(3).
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from contextlib import suppress

from penstock.text import escape

# The kernel drops these when a file is written to, so replacing the file drops them too. Only the first is a setting of a person,
# who learns of it; the others are hashes and signatures of the content.
_LOST_BY_WRITING = {"security.capability", "security.ima", "security.evm"}
_ACCESS_LIST = "system.posix_acl_access"
_COPYFILE_ACL, _COPYFILE_XATTR = 1 << 0, 1 << 2  # macOS's copyfile.h


def give(new: int, old: int) -> tuple[str, ...]:
    """Copy a file's metadata to the new file that will replace it.

    Args:
        new: The new file, open for writing.
        old: The file that it will replace, open.

    Returns:
        What could not be copied, in words.

    Raises:
        OSError: Any other failure.
    """
    if sys.platform == "win32":  # where replacing a file keeps them (ReplaceFileW)
        return ()
    status = os.fstat(old)
    lost = _owner(new, status)
    # While the mode lets in nobody else: it limits what an access list grants.
    _drop_inherited_list(new)
    # Before the attributes, whose access list is finer than the mode; after the owner, because changing it clears mode bits. A
    # program that ran as its owner would run as us, with our rights, if it lost that owner.
    as_owner = stat.S_ISUID | stat.S_ISGID if lost else 0
    os.fchmod(new, stat.S_IMODE(status.st_mode) & ~as_owner)
    lost += _attributes(old, new)
    if status.st_nlink > 1:
        lost.append("its other names, which keep the old content")
    return tuple(lost)


def _owner(new: int, old: os.stat_result) -> list[str]:
    """Give a file the owner and the group of another; return what it could not be given."""
    if sys.platform == "win32" or (old.st_uid, old.st_gid) == (os.geteuid(), os.getegid()):
        return []
    try:
        os.fchown(new, old.st_uid, old.st_gid)
    except PermissionError:  # only root may give files away, but whoever is in a group may give it theirs
        try:
            os.fchown(new, -1, old.st_gid)
        except PermissionError:
            return [f"its owner ({old.st_uid}:{old.st_gid})"]
        return [f"its owner ({old.st_uid})"]
    return []


def _drop_inherited_list(new: int) -> None:
    """Remove the access list that a new file got from its folder (acl(5), default ACLs): the old file need not have one."""
    if sys.platform != "linux":
        return
    try:
        inherits = _ACCESS_LIST in os.listxattr(new)
    except OSError:  # a file system without them
        return
    if inherits:
        os.removexattr(new, _ACCESS_LIST)


def _attributes(old: int, new: int) -> list[str]:
    """Copy extended attributes, including access lists; return those that could not be copied."""
    if sys.platform == "darwin":
        with suppress(AttributeError, OSError):
            if ctypes.CDLL(None, use_errno=True).fcopyfile(old, new, None, _COPYFILE_ACL | _COPYFILE_XATTR) == 0:
                return []
        return ["its extended attributes and access list"]
    if sys.platform != "linux":
        return []
    try:
        all_names = os.listxattr(old)
        names = [name for name in all_names if name not in _LOST_BY_WRITING]
        # What the kernel itself gave the new file, such as the folder's label, needs no permission.
        given = {name: os.getxattr(new, name) for name in os.listxattr(new)}
    except OSError:  # a file system without them
        return []
    lost = ["its capabilities"] if "security.capability" in all_names else []
    for name in names:
        try:
            value = os.getxattr(old, name)
            if given.get(name) != value:
                os.setxattr(new, name, value)
        except OSError:
            lost.append(f"its attribute {escape.clip(name, 80)}")
    return lost
