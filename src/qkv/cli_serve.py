"""`qkv serve`: the page in the browser, with a server or as plain files."""

from __future__ import annotations

import click

from qkv.errors import QkvError

NEEDS = "the page needs starlette and uvicorn: pip install 'qkv[page]'"


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8917, show_default=True)
def serve(port: int) -> None:
    """A page in the browser: check and solve as you type, practise, calculate.

    It runs on this machine and answers to this machine only.

    \b
    Examples:
      qkv serve
      qkv serve --port 9000
    """
    try:
        from qkv.page import server
    except ImportError as error:
        raise QkvError(NEEDS) from error
    click.echo(f"The page is at http://127.0.0.1:{port} (Ctrl-C ends it). {NOTHING_LEAVES}")
    server.serve("127.0.0.1", port)


NOTHING_LEAVES = "Only this machine can open it."
COMMANDS = {"serve": serve}
