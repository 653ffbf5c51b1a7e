"""Fifty visitors typing at once, and hostile pages beside them: how long each waits for the verdict on an edit.

    python benchmarks/bench_page_load.py [visitors] [seconds]

Each visitor changes a digit of a sheet of their own every two to four seconds. Then the same again while three others
post pages that never end, long ones and short ones. Everything stays on the loopback. First comes the processor
time of one answer: on a machine that is busy with other things, waits say more about these than about the server.
"""

from __future__ import annotations

import contextlib
import http.client
import random
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from urllib.parse import urlencode

from qkv.demo import SOLUTION
from qkv.page.respond import respond

PAUSE = 2.0, 4.0  # seconds between two edits of a visitor
LONG, SHORT = ("\n".join(f"S = [1 2 0; 2 0 2; 2 2 {i}]" for i in range(lines)) for lines in (6000, 1200))


@contextlib.contextmanager
def served() -> Iterator[int]:
    """A server of its own, on a free port."""
    command = [sys.executable, "-m", "qkv", "serve", "--port", "0", "--no-open"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    port = int(process.stdout.readline().split("127.0.0.1:")[1].split()[0])
    for _ in range(100):
        with contextlib.suppress(OSError):
            post(port, SOLUTION)
            break
        time.sleep(0.1)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


def post(port: int, text: str) -> tuple[int, str]:
    """A sheet sent as the page sends it: status and answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = urlencode({"text": text, "file": "sheet.md"})
    connection.request("POST", "/sheet", body, {"Content-Type": "application/x-www-form-urlencoded"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def visitor(port: int, number: str, until: float, waits: list[float], lost: list[str]) -> None:
    """Somebody who types: each edit is a page that nobody has sent before."""
    draw = random.Random(number)
    time.sleep(draw.uniform(0, PAUSE[1]))
    edit = 0
    while time.monotonic() < until:
        edit += 1
        text = f"Sheet {number}.{edit}\n\n" + SOLUTION.replace("1.34", f"1.{draw.randrange(10, 99)}")
        begin = time.monotonic()
        try:
            status, answer = post(port, text)
            waits.append(time.monotonic() - begin)
            if status != 200 or "slip" not in answer:
                lost.append(f"{status}: {answer[:80]}")
        except OSError as error:
            lost.append(str(error))
        time.sleep(draw.uniform(*PAUSE))


def hostile(port: int, until: float) -> None:
    """Somebody who sends pages that take too long, one after the other."""
    while time.monotonic() < until:
        for page in (SHORT, LONG):
            with contextlib.suppress(OSError):
                post(port, page + f"\nx = {random.random()}")


def timed(edit: int) -> float:
    """The processor time of one answer, in this process."""
    start = time.process_time()
    respond("sheet", {"text": f"Sheet {edit}\n\n{SOLUTION}", "file": "sheet.md"})
    return time.process_time() - start


def run(port: int, visitors: int, seconds: float, attackers: int) -> None:
    waits: list[float] = []
    lost: list[str] = []
    until = time.monotonic() + seconds
    names = [f"{k}-{attackers}" for k in range(visitors)]
    people = [threading.Thread(target=visitor, args=(port, name, until, waits, lost)) for name in names]
    people += [threading.Thread(target=hostile, args=(port, until), daemon=True) for _ in range(attackers)]
    for each in people:
        each.start()
    for each in people[:visitors]:
        each.join()
    tenth = statistics.quantiles(waits, n=10)[-1]
    print(
        f"{visitors} visitors, {attackers} hostile: {len(waits)} edits, median "
        f"{statistics.median(waits) * 1000:.0f} ms, "
        f"nine in ten within {tenth * 1000:.0f} ms, slowest {max(waits) * 1000:.0f} ms, {len(lost)} lost"
    )
    for each in lost[:3]:
        print("  lost:", each)


if __name__ == "__main__":
    visitors, seconds = int(([*sys.argv, "50"])[1]), float(([*sys.argv, "50", "30"])[2])
    answers = [timed(edit) for edit in range(9)]
    print(f"an answer takes {statistics.median(answers[1:]) * 1000:.0f} ms of processor")
    with served() as port:
        run(port, visitors, seconds, 0)
        run(port, visitors, seconds, 3)
