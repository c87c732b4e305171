"""python -m tulle: what is there, what the compiler does, and searching from the command line."""

from __future__ import annotations

import sys

from tulle.command_line.commands import main

sys.exit(main(sys.argv[1:]))
