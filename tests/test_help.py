"""help() of every public name: what it is for, each argument, and an example (run as a doctest, like all)."""

from __future__ import annotations

import doctest
import inspect
import pydoc
import re

import pytest

import qkv

NAMES = [name for name in qkv.__all__ if name != "__version__"]
CLASSES = [name for name in NAMES if inspect.isclass(getattr(qkv, name))]
METHODS = [
    (name, method)
    for name in CLASSES
    for method, value in vars(getattr(qkv, name)).items()
    if not method.startswith("_") and (inspect.isfunction(value) or isinstance(value, property))
]


def doc(thing: object) -> str:
    return inspect.getdoc(thing) or ""


def arguments(function: object) -> list[str]:
    """The names of the arguments that a caller gives."""
    named = inspect.signature(function).parameters.values()  # type: ignore[arg-type]
    return [
        each.name for each in named if each.name != "self" and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]


def unsaid(function: object) -> set[str]:
    said = set(re.findall(r"\w+", doc(function).partition(">>>")[0]))
    return {name for name in arguments(function) if name not in said}


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_summary_and_an_example(name: str) -> None:
    text = doc(getattr(qkv, name))
    first = text.splitlines()[0]
    assert first.endswith((".", ";", ":"))
    assert len(first) <= 120
    assert doctest.DocTestParser().get_examples(text)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in CLASSES])
def test_each_argument_is_explained(name: str) -> None:
    assert unsaid(getattr(qkv, name)) == set()


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_methods_are_explained(name: str, method: str) -> None:
    value = inspect.getattr_static(getattr(qkv, name), method)
    assert doc(value)
    if inspect.isfunction(value):
        assert unsaid(value) == set()


def test_help_prints() -> None:
    assert "scores are divided by it" in pydoc.plain(pydoc.render_doc(qkv.work))
    assert "softmax(scale · Q Kᵀ) V" in pydoc.plain(pydoc.render_doc(qkv.attention))
