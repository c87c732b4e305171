"""python -m tulle: information on the installation, explanations, timings and searches."""

from __future__ import annotations

import sys

from tulle.command_line.commands import main

sys.exit(main(sys.argv[1:]))
