"""examples/ring_mpi.py, run as its users run it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed: make test-peers installs it")
ROOT = Path(__file__).resolve().parents[2]
BESIDE = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
MPIEXEC = shutil.which("mpiexec", path=BESIDE)
pytestmark = [pytest.mark.peers, pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec: pip install mpich")]


@pytest.mark.parametrize("ranks, options", [(2, []), (3, ["--causal"]), (4, ["--causal", "--tokens", "601"])], ids=str)
def test_the_ring_is_as_one_machine(ranks, options):
    command = [MPIEXEC, "-n", str(ranks), sys.executable, str(ROOT / "examples" / "ring_mpi.py"), "--tokens", "900"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert f"on {ranks} processes" in done.stdout
    differences = [float(x) for x in re.findall(r"[\d.]+e[+-]\d+", done.stdout)]
    assert len(differences) == 5
    assert max(differences) < 1e-5  # gradients are sums over hundreds of tokens, in float32
