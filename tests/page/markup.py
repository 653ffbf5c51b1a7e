"""A piece of a page as XML, so that tests can look into it."""

from __future__ import annotations

import re
from xml.etree import ElementTree

_VOID = re.compile(r"<(input|img|br|meta|link)\b([^>]*[^/>])>")
_BARE = re.compile(r" (hidden|checked|selected|data-[\w-]+|defer)(?=[ />])")
_UNQUOTED = re.compile(r"(aria-current)=(\w+)")


def tree(html: str) -> ElementTree.Element:
    """HTML of ours is XML but for fields that are not closed and attributes without a value or without quotes."""
    closed = _VOID.sub(r"<\1\2/>", html.replace("<!DOCTYPE html>", ""))
    quoted = _UNQUOTED.sub(r'\1="\2"', _bare(closed))
    return ElementTree.fromstring(f"<div>{quoted}</div>")


def _bare(html: str) -> str:
    return re.sub(r"<[^>]*>", lambda tag: _BARE.sub(r' \1=""', tag[0]), html)


def text(element: ElementTree.Element) -> str:
    """All that stands in an element."""
    return " ".join("".join(element.itertext()).split())
