"""How often each law has to hold, and the documents that laws are tried on.

A law is a target, not a fact: the share here is what holds today, rounded down. Raise it when reading gets better; the
aim is 0.99 for each law, 0.97 for transposition. `make bench` measures it over 2,000 cases each.
"""

from __future__ import annotations

from pathlib import Path

from laws.rewritten import gathered
from laws.trials import trial

CASES = 10
REQUIRED: dict[str, float] = {
    "renaming": 0.90,
    "prose": 0.90,
    "dress": 0.90,
    "transposition": 0.90,
    "concatenation": 0.90,
    "order": 0.90,
    "calculator": 0.90,
    "solved is right": 0.90,
    "planted": 0.80,
}

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "sheets"
OURS = gathered(ROOT / "examples", ROOT / "examples" / "sheets")
BESIDE = gathered(SHARED, *(SHARED / name for name in ("wild", "real", "trial")))  # nothing where they are not here
DOCUMENTS = OURS + BESIDE


def require(law: str) -> None:
    """Fail, and say which cases broke the law, if it holds less often than it has to."""
    broken = [case for case in (trial(law, seed, DOCUMENTS) for seed in range(CASES)) if not case.holds]
    share = 1 - len(broken) / CASES
    told = "\n".join(f"{case.call}\n  due  {case.due}\n  said {case.said}" for case in broken)
    assert share >= REQUIRED[law], f"{law} holds in {share:.3f} of {CASES} cases\n{told}"
