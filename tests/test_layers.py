"""Who may import whom. Data goes one way; ARCHITECTURE.md draws the same picture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"

# A part of the package → the parts it may import (itself always). The longest matching name counts.
READING = (
    "errors",
    "expr",
    "interpret",
    "library",
    "reader.model",
    "reader.chain",
    "reader.grammar",
    "reader.told",
    "reader.maths.units",
    *(f"check.{name}" for name in ("cells", "compare", "model")),
)
JUDGING = (*READING, "reading", "check.mistakes", "theory", "render.workings")
EVERYWHERE = ("regex",)
MAY_IMPORT: dict[str, tuple[str, ...]] = {
    "errors": (),
    "regex": (),
    "workers": ("errors",),
    "files": ("errors",),
    "formats": ("errors", "reader", "pdf_text"),
    "pdf_text": ("errors", "reader.model"),
    "expr": ("errors",),
    "library": ("expr",),
    "library.notation": ("errors", "expr", "reader.grammar"),  # rows are read by our own reader, when needed
    "reader": ("errors", "expr", "library.words"),
    "program.model": ("errors", "expr"),
    "interpret": ("errors", "expr", "program.model"),
    "program": ("errors", "expr", "interpret.fit"),
    "program.gradients": ("errors", "expr", "interpret", "program"),
    "program.kinds": ("errors", "expr", "library.heads", "library.rows", "program"),
    "program.request": ("errors", "expr", "interpret.fit", "library.heads", "program"),
    "program.layers": ("errors", "expr", "interpret", "library.block", "library.rows", "program"),
    "program.block": ("errors", "expr", "interpret", "library.block", "program"),
    "check.model": ("errors", "expr"),
    "check": ("errors", "expr", "interpret"),
    "check.mistakes.block": ("errors", "expr", "interpret", "library.notation", "check.mistakes"),
    "check.mistakes.patterns": ("errors", "expr", "library.defined", "library.notation", "check.mistakes"),
    "check.mistakes.program": ("errors", "expr", "interpret", "program.model", "check.mistakes"),
    "reading": READING,
    "chapters": (*READING, "reading", "reader"),
    "judging": JUDGING,
    "solving": (*JUDGING, "judging", "program", "solution"),
    "kernel": ("errors",),
    "dask": ("errors", "kernel"),
    "torch": ("errors", "kernel"),
    "jax": ("errors", "kernel"),
    "transformers": ("errors", "torch"),
    "transport": ("errors",),
    "theory": ("errors", "files", "expr", "library.model_said", "reader", "program", "interpret", "transport"),
    "render": ("errors", "expr", "program.model", "interpret", "reader.model", "library.roles", "check.model", "theory", "transport"),
    "render.reading": ("expr", "interpret.fit", "reader.model", "render", "solving.understood"),
    "render.understood": ("library.roles", "solving.understood"),
    "render.jsonform": ("expr", "interpret", "program.model", "check.model", "reader.model", "render", "solving.understood"),
    "render.feedback": ("check.model", "grading.model", "render"),
    "render.classroom": ("grading.model", "render"),
    "render.targets": ("interpret", "check.model", "reader.model", "render", "solving.understood"),
    "grading.model": (),
    "grading": (*JUDGING, "reader", "judging", "program", "solving", "solution", "chapters", "files", "render", "workers"),
    "compare": ("errors", "working", "solution"),
    "working": ("errors", "expr", "program", "interpret", "solution"),
    "solution": ("errors", "expr", "program", "interpret", "reader.model", "render"),
}  # fmt: skip
# The outside: may import everything, and nothing of the above may import it.
OUTSIDE = (
    "__main__",
    "api",
    "cli",
    "cli_grade",
    "cli_practice",
    "cli_shared",
    "cli_theory",
    "cli_serve",
    "demo",
    "exercises",
    "page",
    "practice",
)

# Each interpretation stands alone; counting is measuring shapes and writing down what they cost.
INTERPRETATIONS = {"certified": (), "shapes": (), "counts": ("shapes",)}

# Heavy packages, and the only parts that may import them when they are themselves imported (not inside a function).
HEAVY = {
    "numpy": ("kernel", "dask", "torch", "jax", "compare", "theory.sampled", "transport.arrays", "transport.entropic", "transport.highs"),
    "numba": ("kernel",),
    "llvmlite": ("kernel",),
    "dask": ("dask",),
    "torch": ("torch", "transformers"),
    "jax": ("jax",),
    "transformers": ("transformers",),
    "rich": ("render", *OUTSIDE),
    "click": OUTSIDE,
}  # fmt: skip
NEVER_AT_IMPORT = (
    "scipy",
    "sympy",
    "matplotlib",
    "onnx",
    "onnxruntime",
    "ot",
    "mpmath",
    "distributed",
    "mpi4py",
    "flax",
    "typst",
    "pypdfium2",
)


def _modules() -> dict[str, Path]:
    found = {}
    for path in sorted((SOURCE / "qkv").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def _imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere below a node, in full."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else str(node.module)


def _at_import(tree: ast.Module) -> Iterator[str]:
    """What is imported as soon as a module is: not inside functions, not for type checkers only."""
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from _imports(node)


def _part(module: str) -> str:
    return module.removeprefix("qkv").removeprefix(".")


def _within(module: str, parts: tuple[str, ...]) -> bool:
    return any(module == part or module.startswith(part + ".") for part in parts)


def _rule(module: str) -> str | None:
    matching = [part for part in MAY_IMPORT if _within(module, (part,))]
    return max(matching, key=len, default=None)


INSIDE = [name for name in MODULES if name != "qkv" and not _within(_part(name), OUTSIDE)]


@pytest.mark.parametrize("module", INSIDE)
def test_imports_only_what_its_layer_may(module: str) -> None:
    rule = _rule(_part(module))
    assert rule is not None, f"say in MAY_IMPORT what {module} may import"
    allowed = (*MAY_IMPORT[rule], rule, *EVERYWHERE)
    for imported in _imports(_tree(module)):
        if imported == "qkv" or imported.startswith("qkv."):
            assert _within(_part(imported), allowed), f"{module} may not import {imported}"


@pytest.mark.parametrize("name", INTERPRETATIONS)
def test_interpretations_do_not_import_each_other(name: str) -> None:
    others = INTERPRETATIONS.keys() - {name} - set(INTERPRETATIONS[name])
    imported = {_part(full) for full in _imports(_tree(f"qkv.interpret.{name}"))}
    assert not imported & {f"interpret.{other}" for other in others}


@pytest.mark.parametrize("module", MODULES)
def test_heavy_packages_load_only_where_they_are_needed(module: str) -> None:
    for imported in _at_import(_tree(module)):
        package = imported.partition(".")[0]
        assert package not in NEVER_AT_IMPORT, f"{module} imports {package} as soon as it is imported"
        if package in HEAVY:
            assert _within(_part(module), HEAVY[package]), f"{module} may not import {package}"


def test_no_cycles() -> None:
    graph = {name: {full for full in _at_import(_tree(name)) if full in MODULES and full != name} for name in MODULES}
    done: set[str] = set()
    path: list[str] = []

    def visit(module: str) -> None:
        assert module not in path, " → ".join((*path[path.index(module) :], module))
        if module in done:
            return
        path.append(module)
        for imported in sorted(graph[module]):
            visit(imported)
        done.add(path.pop())

    for module in graph:
        visit(module)


def test_the_rules_name_what_exists() -> None:
    parts = {_part(name) for name in MODULES}
    assert all(any(_within(part, (rule,)) for part in parts) for rule in MAY_IMPORT)
