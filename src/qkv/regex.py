"""Regular expressions that are compiled when they are first used.

There are hundreds, many of them words in a dozen languages, and a page meets half of them: to compile all would be a
quarter of the time that a command takes to start.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import cast


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    r"""What `re.compile` gives, but compiled at its first use.

    >>> regex(r"\d+").sub("…", "row 12 of 40")
    'row … of …'
    """
    return cast("re.Pattern[str]", _Later(pattern, flags))


class _Later:
    """Stands for a compiled pattern; what is asked of it is looked up in that once."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def __reduce__(self) -> tuple[object, ...]:
        return regex, (self.pattern, self._flags)

    def __getattr__(self, name: str) -> object:
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
