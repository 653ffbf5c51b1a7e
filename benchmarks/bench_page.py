"""make bench-page: from an edit in the browser to the verdict on the screen, with a server and without.

Each of the five sample sheets is opened in Chromium and edited a few times. The time counts from the keystroke to the
frame after the answer is in the page; that the page waits a moment for the next keystroke is part of it. The median is
printed. Where the sample sheets are not at hand, five of examples/sheets take their place. The exit status is 1 if a
target is missed.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "page"))

import browsing  # noqa: E402

TARGETS = {"server": 0.3, "static": 0.5}  # seconds
EDITS = 7
SAMPLES = sorted((ROOT.parent / "shared" / "sheets").glob("00*.md")) or sorted(
    (ROOT / "examples" / "sheets").glob("0*.md")
)
EDIT = """(text) => new Promise((resolve) => {
  const source = document.getElementById("source");
  source.value = text;
  const start = performance.now();
  const swapped = () => requestAnimationFrame(() => setTimeout(() => resolve((performance.now() - start) / 1000)));
  document.addEventListener("htmx:after:swap", swapped, { once: true });
  source.dispatchEvent(new InputEvent("input", { bubbles: true }));
})"""


def measured(visitor: browsing.Visitor, text: str) -> float:
    """The median over a few edits; each is a text that was never sent before."""
    visitor.tab.evaluate(EDIT, text)
    return statistics.median(visitor.tab.evaluate(EDIT, text + "\n" * edit) for edit in range(1, EDITS + 1))


def main() -> int:
    if why := browsing.missing():
        print(why)
        return 0
    times: dict[str, list[float]] = {}
    with browsing.chromium() as browser, tempfile.TemporaryDirectory() as folder:
        for transport in browsing.TRANSPORTS:
            if why := browsing.missing_for(transport):
                print(why)
                continue
            with browsing.served(transport, Path(folder)) as address:
                visitor = browsing.Visitor.of(browser, address, transport)
                start = time.perf_counter()
                visitor.open()
                print(f"{transport}: ready after {time.perf_counter() - start:.1f} s")
                texts = [path.read_text(encoding="utf-8") for path in SAMPLES[:5]]
                times[transport] = [measured(visitor, text) for text in texts]
    for place, path in enumerate(SAMPLES[:5]):
        cells = [f"{transport} {found[place]:.3f} s of {TARGETS[transport]}" for transport, found in times.items()]
        print(f"{path.stem:<34}", *cells, sep="  ")
    return int(any(max(found) > TARGETS[transport] for transport, found in times.items()))


if __name__ == "__main__":
    sys.exit(main())
