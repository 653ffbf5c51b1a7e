"""What surrounds every view: head, navigation, and the promise that nothing leaves the machine."""

from __future__ import annotations

from html import escape

VIEWS = {
    "index.html": "Sheet",
    "practice.html": "Practice",
    "calculator.html": "Calculator",
    "costs.html": "Costs",
}
PROMISE = "Nothing you type leaves this machine: no account, no tracking, no request to anywhere else."


def framed(path: str, body: str, *scripts: str) -> str:
    """A whole page around a view, with the scripts of its own. All addresses are relative, so that it works from any
    folder."""
    title = VIEWS[path]
    links = "".join(
        f'<a href="{to}"{" aria-current=page" if to == path else ""}>{escape(name)}</a>' for to, name in VIEWS.items()
    )
    # Before htmx, so that what a script brings back into a form is in the first request.
    own = "".join(f'<script src="assets/{name}" defer></script>\n' for name in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="htmx-config" content=\'{"includeIndicatorCSS": false}\'>\n'
        f"<title>{escape(title)} · qkv</title>\n"
        '<link rel="icon" href="assets/icon.svg">\n'
        '<link rel="stylesheet" href="assets/report.css">\n<link rel="stylesheet" href="assets/page.css">\n'
        '<link rel="stylesheet" href="assets/views.css">\n'
        f'<script src="assets/transport.js" defer></script>\n{own}'
        '<script src="assets/htmx.min.js" defer></script>\n<script src="assets/page.js" defer></script>\n'
        '</head>\n<body class="qkv">\n'
        f'<header><a class="brand" href="index.html"><img src="assets/icon.svg" alt="">qkv</a>'
        f'<nav aria-label="Views">{links}</nav>'
        '<button type="button" id="theme" aria-label="Light or dark">◐</button></header>\n'
        f'<main>\n{body}\n</main>\n<footer class="soft">{PROMISE}</footer>\n</body>\n</html>\n'
    )
