"""What several tests share: the answer keys of the sample sheets, where they are at hand."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("qkv", deadline=None)  # the first example pays for imports; time is measured by make bench
settings.load_profile("qkv")

# Adapters to peers that are not installed cannot even be imported; make test-peers installs them.
ADAPTERS = {"onnx": "peers/onnx_attention.py", "dask": "peers/dask_inputs.py"}
collect_ignore = [file for peer, file in ADAPTERS.items() if find_spec(peer) is None]

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def answer_keys() -> dict[str, Any]:
    """The true values of the five sample sheets; tests that need them are skipped where they are not."""
    path = SHARED / "keys" / "keys.json"
    if not path.exists():
        pytest.skip("the sample sheets are not here")
    keys: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return keys
