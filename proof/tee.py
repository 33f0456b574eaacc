"""What does a client send? `tee.py LOG COMMAND…` runs a server over pipes and logs each line of its input."""

from __future__ import annotations

import subprocess
import sys


def main(log: str, *command: str) -> int:
    """Returns the server's status, after the end of its input."""
    with subprocess.Popen(command, stdin=subprocess.PIPE) as server, open(log, "ab", 0) as file:
        assert server.stdin is not None
        for line in sys.stdin.buffer:
            file.write(line)
            server.stdin.write(line)
            server.stdin.flush()
        server.stdin.close()
        return server.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
