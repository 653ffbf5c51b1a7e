"""Costs, scale, proofs and transport as blocks of text, the same for every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from qkv.expr.names import Role
from qkv.interpret.counts import Operations
from qkv.render.blocks import Block, Heading, Paragraph, Table, bar
from qkv.theory.cost import TILE, Cost, Crossing
from qkv.theory.identities import Proof
from qkv.theory.masks import MASK_EFFECT, MASK_RULE, causal_mask, softmax_axis
from qkv.theory.polynomial import leading, number, plain
from qkv.theory.prove import Counterexample, Verdict
from qkv.theory.scale import Derivation
from qkv.theory.sizes import all_together, listed, say
from qkv.transport import TransportResult, decimals
from qkv.transport.result import Move

if TYPE_CHECKING:  # both load NumPy, which a browser does not have
    from qkv.theory.sampled import Estimate, SoftnessRow
    from qkv.transport.entropic import EntropicPlan, OneSided

MOST_CELLS = 12  # rows or columns of a plan that are still shown as a table
MOST_LINES = 40  # moves, expansions or prices that are listed
LONGEST = 110  # characters of an expansion that are still shown


SAID = {
    "textbook": "a sum of k numbers takes k − 1 additions",
    "flops": "a sum of k numbers takes k additions, so that an m×k by k×n product takes 2mnk operations",
}


def counted(size: Any) -> str:
    """A count as a number with thousands apart, or as a formula."""
    value = number(size)
    return plain(size) if value is None else f"{value:,}"


def cost_blocks(
    cost: Cost, meeting: Crossing | None = None, width_bytes: int = 4, symbols: Cost | None = None
) -> list[Block]:
    """What a program costs: by step, in total, in memory; `symbols` is the same cost with all sizes open."""
    blocks: list[Block] = [
        Heading(f"What {cost.kind} costs"),
        Paragraph(f"Convention: {cost.convention.value} ({SAID[cost.convention.value]})."),
        _cost_table(cost),
        *_mask_blocks(cost),
    ]
    blocks.append(Paragraph(_together(cost)))
    if symbols is not None:
        formulas = "; ".join(f"{sort} {plain(count)}" for sort, count in listed(symbols.total))
        blocks.append(Paragraph(f"In symbols: {formulas}."))
    if any(step.projection for step in cost.steps):
        blocks.append(_shares(cost))
    if meeting is not None:
        blocks.append(Paragraph(_meeting(meeting)))
    return [*blocks, _memory(cost, width_bytes)]


def _mask_blocks(cost: Cost) -> list[Block]:
    """Along which axis softmax runs, and the mask if there is one."""
    said = Paragraph(f"Softmax runs {'along each row' if softmax_axis() else 'down each column'} of the scores.")
    masked = cost.step(Role.MASKED)
    if masked is None or masked.formula.startswith("mask("):  # a given mask stands among the givens
        return [said]
    rows, columns = (number(size) for size in masked.shape)
    known = rows is not None and columns is not None and max(rows, columns) <= MOST_CELLS
    values = causal_mask(rows or 1, columns or 1) if known else causal_mask(4, 4)
    title = f"The mask, {say(masked.shape)}" + ("" if known else " (here 4 × 4)")
    return [
        said,
        Paragraph(f"{MASK_RULE}; {MASK_EFFECT}."),
        Table(("",) * len(values[0]), values, title, tuple(range(len(values[0])))),
    ]


def _cost_table(cost: Cost) -> Table:
    """A line for each step and sort of operation."""
    rows: list[tuple[str, ...]] = []
    for step in cost.steps:
        heads = "" if step.times == 1 else f" (×{counted(step.times)})"
        rows += _counts(f"{step.name} = {step.formula}{heads}", say(step.shape), step.counts)
    total = _counts("total", "", cost.total)
    strong = frozenset(range(len(rows), len(rows) + len(total)))
    return Table(("step", "shape", "count", "operations"), (*rows, *total), right=(2,), strong=strong)


def _counts(name: str, shape: str, operations: Operations) -> list[tuple[str, ...]]:
    lines = [(counted(count), sort) for sort, count in listed(operations)] or [("0", "")]
    return [(name if k == 0 else "", shape if k == 0 else "", *line) for k, line in enumerate(lines)]


def _together(cost: Cost) -> str:
    total = all_together(cost.total)
    order = f", which is O({plain(leading(total))})" if number(total) is None else ""
    return f"All operations together: {counted(total)}{order}."


def _shares(cost: Cost) -> Table:
    parts = [("projections", cost.projections), ("scores, softmax, weighted sums", cost.attention)]
    if cost.around.multiplications:
        parts.append(("feed-forward layer and the rest", cost.around))
    numbers = [number(part.multiplications) for _, part in parts]
    most = max(value or 0 for value in numbers)
    rows = tuple(
        (name, counted(part.multiplications), bar(value or 0, most))
        for (name, part), value in zip(parts, numbers, strict=True)
    )
    return Table(("part", "multiplications", ""), rows, right=(1,))


def _meeting(meeting: Crossing) -> str:
    where = []
    if meeting.formula is not None and number(meeting.formula) is None:
        where.append(f"n = {plain(meeting.formula)}")
    if meeting.tokens is not None:
        where.append(f"n = {float(meeting.tokens):,g} tokens")
    if not where:
        return "Projections grow like n, attention like n²."
    return f"Projections grow like n, attention like n²; they take equally many multiplications at {', '.join(where)}."


def _memory(cost: Cost, width_bytes: int) -> Table:
    rows = [
        ("every intermediate stored", cost.stored),
        (f"scores and weights in tiles of {TILE} × {TILE}", cost.tiled),
        ("keys and values kept (KV cache)", cost.kv_cache),
        ("parameters", cost.parameters),
    ]
    cells = tuple((name, counted(size), _bytes(size, width_bytes)) for name, size in rows)
    return Table(("memory", "numbers", f"bytes, {width_bytes} a number"), cells, right=(1, 2))


def _bytes(size: Any, width_bytes: int) -> str:
    value = number(size)
    if value is None:
        return plain(size * width_bytes)
    amount = float(value * width_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return f"{amount:,.4g} {unit}"


def scale_blocks(
    derivation: Derivation, estimates: Sequence[Estimate], rows: Sequence[SoftnessRow], own: SoftnessRow | None = None
) -> list[Block]:
    """The derivation, the simulation beside it, and softmax with and without the scale."""
    blocks: list[Block] = [
        Heading("Why scores are divided by √d_k"),
        Paragraph("q and k have independent components with mean μ and standard deviation σ."),
        Table(("step", "because"), tuple((line.formula, line.rule) for line in derivation.lines)),
    ]
    if estimates:
        found = tuple(
            (
                e.name,
                f"{e.theory:,.6g}",
                f"{e.found:,.6g}",
                f"{e.low:,.6g} … {e.high:,.6g}",
                "yes" if e.agrees else "no",
            )
            for e in estimates
        )
        blocks.append(Table(("", "theory", "simulated", "99 % confidence", "inside"), found, "A simulation", (1, 2, 3)))
    if rows:
        blocks.append(_softness_table(rows, "Softmax over random scores, mean over many queries"))
    if own is not None:
        blocks.append(_softness_table([own], "The same for these queries and keys"))
    return blocks


def _softness_table(rows: Sequence[SoftnessRow], title: str) -> Table:
    cells = []
    for row in rows:
        for name, soft in (("scaled", row.scaled), ("unscaled", row.unscaled)):
            cells.append(
                (
                    str(row.d_k) if name == "scaled" else "",
                    name,
                    f"{soft.entropy:.3f}",
                    f"{soft.largest:.3f}",
                    f"{soft.jacobian:.3f}",
                    bar(soft.largest, 1.0, 16),
                )
            )
    headers = ("d_k", "scores", "entropy / log n", "largest weight", "Jacobian norm", "largest weight")
    return Table(headers, tuple(cells), title, (0, 2, 3, 4))


def proof_blocks(proof: Proof, altered: Sequence[Proof] = ()) -> list[Block]:
    """A statement, its proof as a course writes it, its expansion, and what becomes of altered statements."""
    verdict, z = proof.verdict, proof.sizes
    sizes = f"n_q = {z.queries}, n_k = {z.keys}, d = {z.d}, d_k = {z.d_k}, d_v = {z.d_v}, h = {z.heads}"
    blocks: list[Block] = [
        Heading(proof.identity.title),
        Paragraph(f"Claim: {proof.statement}"),
        Table(("step", "because"), proof.identity.steps, "Proof"),
        Paragraph(
            f"Checked exactly in symbols for {sizes}: {verdict.equations} equations, {verdict.cells} cells, "
            f"{verdict.symbols} symbols: {_holds(verdict.holds)}."
        ),
    ]
    lines = [(e.label, e.text) for e in verdict.expansions if len(e.text) <= LONGEST]
    if lines:
        blocks.append(Table(("cell", "expanded"), tuple(lines[:MOST_LINES])))
    for other in altered:
        blocks += _altered(other)
    return blocks


def statement_blocks(text: str, verdict: Verdict) -> list[Block]:
    """An equation that somebody typed, proven or refuted."""
    blocks: list[Block] = [Heading(text), Paragraph(f"In symbols, exactly: {_holds(verdict.holds)}.")]
    lines = [(e.label.removeprefix(text).strip() or "value", e.text) for e in verdict.expansions]
    short = tuple(line for line in lines if len(line[1]) <= LONGEST)[:MOST_LINES]
    if short:
        blocks.append(Table(("cell", "both sides, expanded"), short))
    if verdict.counterexample is not None:
        blocks.append(Paragraph(_counterexample(verdict.counterexample)))
    return blocks


def _holds(holds: bool | None) -> str:
    return {True: "proven", False: "false", None: "neither proven nor refuted"}[holds]


def _altered(proof: Proof) -> list[Block]:
    found = proof.verdict.counterexample
    if found is None:
        return [Paragraph(f"Altered: {proof.statement}: {_holds(proof.verdict.holds)}.")]
    label = f" ({found.equation.label})" if found.equation.label else ""
    return [Paragraph(f"Altered: {proof.statement}: false{label}. {_counterexample(found)}")]


def _counterexample(found: Counterexample) -> str:
    values = "; ".join(f"{name} = {[list(row) for row in rows]}" for name, rows in found.values)
    return (
        f"Counterexample: {values}. Cell ({found.row},{found.column}) is {found.left} on the left "
        f"and {found.right} on the right."
    )


def point(coordinates: Sequence[Any]) -> str:
    """A point as people write it."""
    return str(coordinates[0]) if len(coordinates) == 1 else f"({', '.join(map(str, coordinates))})"


def transport_blocks(result: TransportResult) -> list[Block]:
    """The least cost, the plan, its proof, and how it is found on a line."""
    amount = str(result.cost)
    shown = amount if amount.lstrip("-").isdigit() else f"{amount} = {result.decimals()}"
    blocks: list[Block] = [
        Heading("Earth mover's distance"),
        Paragraph(f"Least cost: {shown} (cost of a unit: {result.costs.formula})."),
    ]
    if result.root is not None:
        blocks.append(Paragraph(f"W₂ = √({amount}) = {decimals(result.root, 8)}."))
    if result.source.total != 1:
        blocks.append(Paragraph(f"Per unit of mass ({result.source.total} in all): {result.per_unit}."))
    if result.line and len(result.line) <= MOST_LINES:
        blocks.append(_line_table(result))
    blocks.append(_plan_table(result, result.plan, "An optimal plan"))
    blocks.append(Paragraph(_proof(result)))
    if _small(result):
        blocks.append(_price_table(result))
    if result.alternative is None:
        blocks.append(Paragraph("The plan is the only optimal one."))
    else:
        blocks.append(Paragraph("The plan is not the only optimal one; another costs just as little:"))
        blocks.append(_plan_table(result, result.alternative, "Another optimal plan"))
    return blocks


def _small(result: TransportResult) -> bool:
    return max(len(result.source.masses), len(result.target.masses)) <= MOST_CELLS


def _line_table(result: TransportResult) -> Table:
    rows = tuple(
        (f"{s.start} → {s.end}", str(s.mass_here), str(s.surplus), f"|{s.surplus}| · {s.end - s.start} = {s.cost}")
        for s in result.line
    )
    total = ("sum", "", "", str(result.cost))
    headers = ("stretch", "p − q here", "surplus carried on", "cost")
    return Table(headers, (*rows, total), "On a line: carry the surplus along", (1, 2, 3), frozenset({len(rows)}))


def _plan_table(result: TransportResult, plan: Sequence[Move], title: str) -> Table:
    if not _small(result):
        shown = tuple(
            (point(result.source.points[m.source]), point(result.target.points[m.target]), str(m.mass), str(m.cost))
            for m in plan[:MOST_LINES]
        )
        more = f" (the first {MOST_LINES} of {len(plan)} moves)" if len(plan) > MOST_LINES else ""
        return Table(("from", "to", "mass", "cost"), shown, title + more, (2, 3))
    cells = result.table(tuple(plan))
    headers = ("from \\ to", *(point(p) for p in result.target.points), "sum")
    rows = [
        (point(p), *("" if cell == 0 else str(cell) for cell in row), str(mass))
        for p, row, mass in zip(result.source.points, cells, result.source.masses, strict=True)
    ]
    sums = ("sum", *map(str, result.target.masses), str(result.source.total))
    return Table(headers, (*rows, sums), title, tuple(range(1, len(headers))), frozenset({len(rows)}))


def _proof(result: TransportResult) -> str:
    return (
        f"Proof: prices u and v with u_i + v_j ≤ c_ij for all {result.cells_checked:,} cells and = c_ij where mass "
        f"moves (checked exactly); no plan can cost less than Σ p_i u_i + Σ q_j v_j = {result.cost}."
    )


def _price_table(result: TransportResult) -> Table:
    sides = (("u", result.source, result.prices_from), ("v", result.target, result.prices_to))
    rows = tuple(
        (f"{letter}_{k}", point(p), str(price))
        for letter, side, prices in sides
        for k, (p, price) in enumerate(zip(side.points, prices, strict=True), 1)
    )
    return Table(("price", "at", ""), rows, right=(2,))


def entropic_blocks(plan: EntropicPlan) -> list[Block]:
    """Sinkhorn's plan."""
    rows = tuple(tuple(f"{cell:.4f}" for cell in row) for row in plan.plan[:MOST_CELLS, :MOST_CELLS])
    return [
        Paragraph(
            f"Sinkhorn with ε = {plan.epsilon:g}: cost {plan.cost:.6g}, entropy {plan.entropy:.6g}, "
            f"{plan.rounds} rounds, row sums off by {plan.gap:.1e}."
        ),
        Table(tuple("" for _ in rows[0]), rows, "Entropic plan", tuple(range(len(rows[0])))),
    ]


def one_sided_blocks(shown: OneSided) -> list[Block]:
    """Attention beside the entropic plan with free columns."""
    headers = tuple(f"key {j + 1}" for j in range(shown.plan.shape[1]))
    weights = tuple(tuple(f"{cell:.4f}" for cell in row) for row in shown.weights)
    sums = tuple(f"{cell:.4f}" for cell in shown.column_sums)
    return [
        Heading("Softmax attention is one-sided entropic transport"),
        Paragraph(
            f"Minimise Σ P_ij C_ij + ε Σ P_ij (log P_ij − 1) with C = −QKᵀ and ε = √d_k = {shown.epsilon:.6g}, "
            "row sums 1, column sums free. At the minimum C_ij + ε log P_ij is constant along each row, "
            "so P_ij = softmax_j(−C_ij/ε)."
        ),
        Table(
            headers,
            (*weights, sums),
            "softmax(QKᵀ/√d_k), and the column sums that it leaves",
            strong=frozenset({len(weights)}),
        ),
        Paragraph(
            f"The entropic plan differs from it by {shown.difference:.1e}; C + ε log P varies by {shown.spread:.1e} "
            "along a row. Sinkhorn goes on and demands given column sums as well."
        ),
    ]
