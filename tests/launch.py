"""In place of a Python interpreter, `-m` or `-c` and arguments behind an address: a process that `tests.forks` makes there.

It hands on its input, its outputs, its folder, its environment and the signals that ask a process to end, and ends as that
process does. Killed, it takes that process with it. It imports what is built in, so that it starts in a hundredth of a second.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import posix
import sys

ASKING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
_signal.pthread_sigmask(_signal.SIG_BLOCK, ASKING)  # one that comes before it can be handed on waits until it can
line = _socket.socket(_socket.AF_UNIX)
line.connect(sys.argv[1])
asked = marshal.dumps((sys.argv[2:], posix.getcwd(), posix.environ))
files = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
line.sendmsg([len(asked).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, files)])
line.sendall(asked)
made = int(line.recv(10))
for asking in ASKING:
    _signal.signal(asking, lambda number, _: posix.kill(made, number))
_signal.pthread_sigmask(_signal.SIG_UNBLOCK, ASKING)
for number in (0, 1, 2):
    posix.close(number)  # or who reads the output waits for this process as well
status = int(line.recv(10))
if status < 0:
    if -status != _signal.SIGKILL:
        _signal.signal(-status, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -status)
posix._exit(status)
