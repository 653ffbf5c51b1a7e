"""`qkv serve`: the page in the browser."""

from __future__ import annotations

import contextlib
import ipaddress
import sys

import click

from qkv.errors import MissingExtra

HERE = "127.0.0.1"
PORT = 8917


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes any free one.")
@click.option("--host", default=HERE, show_default=True, help="0.0.0.0 lets others on the network open the page.")
@click.option("--open/--no-open", "opens", default=True, help="Open the page in the browser.")
@click.option("--static", metavar="DIR", help="Write the page as plain files that need no server of ours.")
def serve(port: int, host: str, opens: bool, static: str | None) -> None:
    """A page in the browser: check and solve as you type, practise, calculate.

    It runs on this machine, and only this machine can open it unless --host says otherwise. Nothing that is typed
    leaves it.

    \b
    Examples:
      qkv serve
      qkv serve --port 9000 --no-open
      qkv serve --host 0.0.0.0        a class opens it by this machine's address
      qkv serve --static page         a folder for any web space: visitors' own browsers do the work
    """
    if static is not None:
        _write(static)
        return
    try:
        from qkv.page import server
    except ImportError as error:
        raise MissingExtra(
            "The page needs starlette and uvicorn; install them with: pip install 'qkv[page]'."
        ) from error
    listener = server.listening(host, port)
    here = f"http://{HERE if host == '0.0.0.0' else host}:{listener.getsockname()[1]}"
    click.echo(f"The page is at {here} (Ctrl-C ends it).")
    if not _is_loopback(host):
        click.echo(
            f"--host {host}: everybody on this network can open it, and what they type is sent to this machine "
            "unencrypted. There are limits of time and memory for each page, but no accounts. Only for networks that "
            "you trust.",
            err=True,
        )
    elif opens and sys.stdout.isatty():
        with contextlib.suppress(Exception):
            click.launch(here)
    server.serve(listener)


def _write(folder: str) -> None:
    from qkv.page import static
    from qkv.render.progress import waiting

    size = static.write(folder, lambda doing: waiting(doing, after=0))
    click.echo(f"The page is in {folder}: {size}. Put it on any web space; nothing else is needed.")
    click.echo(f"To look at it here: python -m http.server --bind {HERE} --directory {folder}")


def _is_loopback(host: str) -> bool:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


COMMANDS = {"serve": serve}
