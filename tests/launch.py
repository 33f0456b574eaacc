"""A stand-in for a Python interpreter: ADDRESS, then `-m` or `-c` and arguments, for a process that `tests.forks` makes there.

It passes on its input, outputs, folder, environment and the signals that ask a process to end, and ends as that process does.
If it is killed, that process is killed too. It imports only built-in modules, so it starts in a hundredth of a second.
"""

import _signal  # type: ignore[import-not-found]
import _socket
import marshal
import posix
import sys

ASKING = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
_signal.pthread_sigmask(_signal.SIG_BLOCK, ASKING)  # signals stay pending until they can be passed on
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
    posix.close(number)  # or a reader of the output would wait for this process too
status = int(line.recv(10))
if status < 0:
    if -status != _signal.SIGKILL:
        _signal.signal(-status, _signal.SIG_DFL)
    posix.kill(posix.getpid(), -status)
posix._exit(status)
