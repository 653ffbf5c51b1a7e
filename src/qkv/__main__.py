"""`python -m qkv` is the command `qkv`."""

from __future__ import annotations

from qkv.cli import main

main()
