"""Regular expressions that are compiled when they are first used: no document needs all of them, and compiling them
would be most of what starting takes."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("match", "search", "fullmatch", "finditer", "findall", "sub", "split")


class _Late:
    """A pattern whose methods are those of the compiled one, from the first use on."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._source, self._flags)
        vars(self).update({method: getattr(compiled, method) for method in _METHODS})
        return getattr(compiled, name)


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """The same as re.compile, but put off.

    >>> late("a+").sub("b", "caat")
    'cbt'
    """
    return cast("re.Pattern[str]", _Late(source, flags))
