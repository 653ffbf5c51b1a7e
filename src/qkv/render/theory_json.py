"""Costs, scale, proofs and transport as data for other programs; numbers are strings, so that no digit is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from qkv.expr.names import Role
from qkv.interpret.counts import Operations
from qkv.render.jsonform import fields
from qkv.theory.cost import Cost, Crossing
from qkv.theory.identities import Proof
from qkv.theory.masks import MASK_RULE, softmax_axis
from qkv.theory.polynomial import latex, leading, plain
from qkv.theory.prove import Verdict
from qkv.theory.scale import Derivation
from qkv.theory.sizes import all_together, listed
from qkv.transport import TransportResult, decimals
from qkv.transport.result import Move

if TYPE_CHECKING:  # both load NumPy, which a browser does not have
    from qkv.theory.sampled import Estimate, Softness, SoftnessRow
    from qkv.transport.entropic import EntropicPlan, OneSided


def _size(size: Any) -> dict[str, str]:
    return {"plain": plain(size), "latex": latex(size)}


def _sizes(operations: Operations) -> dict[str, dict[str, str]]:
    return {name: _size(count) for name, count in listed(operations)}


def _as(write: Callable[[Any], str], item: object, names: str) -> dict[str, str]:
    """Some fields of an object under their own names, each as text."""
    return {name: write(value) for name, value in fields(item, names).items()}


def cost(counted: Cost, meeting: Crossing | None = None, file: str | None = None) -> dict[str, Any]:
    """The form `qkv.cost/1`."""
    return {
        "schema": "qkv.cost/1",
        "file": file,
        "kind": counted.kind,
        "convention": counted.convention.value,
        "steps": [
            {
                **fields(step, "name formula"),
                "role": step.role.value,
                "shape": [plain(size) for size in step.shape],
                "times": plain(step.times),
                "counts": _sizes(step.counts),
            }
            for step in counted.steps
        ],
        "softmax": "rows" if softmax_axis() else "columns",
        "mask": MASK_RULE if counted.step(Role.MASKED) else None,
        "total": _sizes(counted.total),
        "leading": {name: _size(leading(count)) for name, count in listed(counted.total)},
        "operations": _size(all_together(counted.total)),
        "projections": _sizes(counted.projections),
        "attention": _sizes(counted.attention),
        "numbers": _as(plain, counted, "stored tiled kv_cache parameters"),
        "crossing": None
        if meeting is None
        else {
            "tokens": None if meeting.tokens is None else str(meeting.tokens),
            "formula": None if meeting.formula is None else plain(meeting.formula),
        },
    }


def _softness(soft: Softness) -> dict[str, str]:
    return _as(repr, soft, "entropy largest jacobian")


def _softness_row(row: SoftnessRow) -> dict[str, Any]:
    return {"d_k": row.d_k, "scaled": _softness(row.scaled), "unscaled": _softness(row.unscaled)}


def scale(
    derivation: Derivation, estimates: Sequence[Estimate], rows: Sequence[SoftnessRow], own: SoftnessRow | None = None
) -> dict[str, Any]:
    """The form `qkv.scale/1`."""
    return {
        "schema": "qkv.scale/1",
        **fields(derivation, "mean variance"),
        "steps": [fields(line, "formula latex rule") for line in derivation.lines],
        "simulation": [
            {"name": e.name, **_as(repr, e, "theory found low high"), "agrees": e.agrees} for e in estimates
        ],
        "softmax": [_softness_row(row) for row in rows],
        "own": None if own is None else _softness_row(own),
    }


def proofs(
    found: Sequence[tuple[Proof, Sequence[Proof]]], statements: Sequence[tuple[str, Verdict]] = ()
) -> dict[str, Any]:
    """The form `qkv.proofs/1`."""
    return {
        "schema": "qkv.proofs/1",
        "statements": [_verdict(text, verdict) for text, verdict in statements],
        "proofs": [
            {
                **fields(proof.identity, "key title latex"),
                **_proof(proof),
                "steps": [{"formula": formula, "because": because} for formula, because in proof.identity.steps],
                "expansions": [{"cell": e.label, "text": e.text} for e in proof.verdict.expansions],
                "altered": [_proof(other) for other in altered],
            }
            for proof, altered in found
        ],
    }


def _proof(proof: Proof) -> dict[str, Any]:
    return _verdict(proof.statement, proof.verdict)


def _verdict(statement: str, verdict: Verdict) -> dict[str, Any]:
    example = verdict.counterexample
    return {
        "statement": statement,
        "holds": verdict.holds,
        "counterexample": None
        if example is None
        else {
            "values": {name: [list(map(str, row)) for row in rows] for name, rows in example.values},
            "cell": [example.row, example.column],
            **fields(example, "left right"),
        },
    }


def transport(result: TransportResult, entropic: EntropicPlan | None = None) -> dict[str, Any]:
    """The form `qkv.transport/1`."""
    return {
        "schema": "qkv.transport/1",
        "cost": str(result.cost),
        "decimals": result.decimals(12),
        "per_unit": str(result.per_unit),
        "root": None if result.root is None else decimals(result.root, 12),
        "unit_cost": result.costs.formula,
        "plan": [_move(move) for move in result.plan],
        "unique": result.unique,
        "alternative": None if result.alternative is None else [_move(move) for move in result.alternative],
        "prices_from": [str(price) for price in result.prices_from],
        "prices_to": [str(price) for price in result.prices_to],
        "cells_checked": result.cells_checked,
        "line": [_as(str, stretch, "start end surplus cost") for stretch in result.line],
        "sinkhorn": None
        if entropic is None
        else {**_as(repr, entropic, "epsilon cost"), "plan": _floats(entropic.plan)},
    }


def _move(move: Move) -> dict[str, Any]:
    return {"from": move.source + 1, "to": move.target + 1, **_as(str, move, "mass unit_cost cost")}


def one_sided(shown: OneSided) -> dict[str, Any]:
    """The form `qkv.one-sided/1`."""
    return {
        "schema": "qkv.one-sided/1",
        "epsilon": repr(shown.epsilon),
        "weights": _floats(shown.weights),
        "plan": _floats(shown.plan),
        "column_sums": [repr(float(x)) for x in shown.column_sums],
        "difference": repr(shown.difference),
    }


def _floats(matrix: Any) -> list[list[str]]:
    return [[repr(float(cell)) for cell in row] for row in matrix]
