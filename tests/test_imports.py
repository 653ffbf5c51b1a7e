"""What importing and using qkv loads: seen from a fresh interpreter, as lists of modules, not as time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "torch", "jax", "sympy", "scipy", "matplotlib", "onnxruntime", "dask")
USES = {
    "nothing": ("", (*HEAVY, "numpy", "flint", "rich", "click", "mpmath")),
    "work": (
        "qkv.work(Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]])['A'].digits(6)",
        (*HEAVY, "numpy", "rich", "click"),
    ),
    "a chain in symbols": (
        r"assert qkv.check('$$ \\sum_{j=1}^2 a_{1j} v_{j1} = \\sum_{j=1}^2 v_{j1} a_{1j} $$').claims",
        (*HEAVY, "numpy", "rich", "click"),
    ),
    "print": ("str(qkv.work(Q=[[1, 2]], K=[[1, 0], [0, 1]], V=[[1], [2]]))", HEAVY),
    "dir": ("dir(qkv)", (*HEAVY, "numpy", "flint", "rich")),
}


@pytest.mark.parametrize("use", USES)
def test_only_what_is_needed_is_loaded(use: str) -> None:
    code, unwanted = USES[use]
    script = f"import json, sys, qkv\n{code}\nprint(json.dumps(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout.splitlines()[-1]))
    assert "qkv" in loaded
    assert not loaded & set(unwanted)


NOT_IN_A_BROWSER = ("numpy", "numba", "llvmlite", "scipy", "rich", "click", "starlette", "uvicorn")
SHEET = r"""
$$Q = [[1, 2]], \\quad K = [[2, 1], [1, 1]], \\quad V = [[1], [3]]$$

Compute $\\text{softmax}(QK^T/\\sqrt{d_k})V$.

$S = Q K^T = [[4, 4]]$
"""
IN_A_BROWSER = f"""
import sys
for name in {NOT_IN_A_BROWSER}:
    sys.modules[name] = None  # importing it fails
import qkv
from qkv.api import understand_sheet
from qkv.render.html import report
sheet = qkv.read('''{SHEET}''')
solved, checked = sheet.solve(), sheet.check()
assert solved['A'].decimals(3) == (('0.670', '0.330'),)
assert checked.summary['wrong'] == 1
assert understand_sheet(sheet)
assert '<math' in report(checked)
import qkv.exercises.play, qkv.exercises.written, qkv.render.theory, qkv.render.theory_json, qkv.theory.answers
from qkv.page.respond import PAGES, PARTS
from qkv.page.respond import Responder
answer = Responder()
assert {{answer((path, {{}})).status for path in (*PAGES, *PARTS)}} == {{200}}
assert 'wrong' in answer(('sheet', {{'text': sheet.text, 'file': 'sheet.md'}})).body
"""


def test_sheets_are_read_solved_and_checked_where_there_is_no_numpy() -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", IN_A_BROWSER], check=True)
