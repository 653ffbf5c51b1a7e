"""Fields of a form that more than one view has."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def select(label: str, name: str, options: Mapping[str, str], chosen: str | None = None) -> str:
    """A list to choose from, with its label; the first is chosen unless said."""
    inside = "".join(
        f'<option value="{escape(key)}"{" selected" if key == chosen else ""}>{escape(says)}</option>'
        for key, says in options.items()
    )
    return f'<label>{escape(label)} <select name="{name}">{inside}</select></label>'


def tabs(legend: str, name: str, options: Mapping[str, str]) -> str:
    """Buttons of which one is pressed, at first the first."""
    first = next(iter(options))
    inside = "".join(
        f'<input type="radio" name="{name}" id="{name}-{key}" value="{key}"{" checked" if key == first else ""}>'
        f'<label for="{name}-{key}">{escape(says)}</label>'
        for key, says in options.items()
    )
    return f'<fieldset class="tabs"><legend class="hidden">{escape(legend)}</legend>{inside}</fieldset>'
