"""The commands about theory: cost, scale, prove and transport. Loaded when one of them is asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from qkv import files
from qkv.cli_shared import say, sheet, target_of, with_output, write
from qkv.errors import MissingExtra, QkvError, ValueRefused
from qkv.expr.names import Role
from qkv.interpret.trace import Trace
from qkv.render import theory as blocks
from qkv.render import theory_json as data
from qkv.render.blocks import Block, Table, markdown
from qkv.render.blocks_terminal import terminal
from qkv.render.jsonform import lines
from qkv.render.progress import waiting
from qkv.theory import plots
from qkv.theory.cases import Sizes
from qkv.theory.cost import Cost, cost, crossing, program_cost
from qkv.theory.cost_kinds import KINDS
from qkv.theory.identities import IDENTITIES, find, prove, refute
from qkv.theory.sampled import own_scores, saturation, simulate, sizes_up_to
from qkv.theory.scale import derive
from qkv.theory.sizes import Convention
from qkv.theory.statement import prove_statement, said_shapes
from qkv.transport import Distribution, TransportResult, transport
from qkv.transport.entropic import one_sided, sinkhorn
from qkv.transport.exact import to_float

Command = Callable[..., None]
FORMATS = ("terminal", "markdown", "json")


def _write(shown: list[Block], forms: Sequence[dict[str, Any]], target: dict[str, Any]) -> None:
    """The result in the format asked for, to where it was asked for; in JSON one object a line."""
    goes = target_of(target)
    match goes.form:
        case "json":
            text = lines(forms)
        case "markdown":
            text = markdown(shown)
        case _:
            from qkv.render.terminal import joined

            text = joined([terminal(shown)], goes.width, goes.colour)
    write(text, target)


def _plotted(draw: Callable[[], Path]) -> None:
    """Draw, and say where; without matplotlib say what to do, and go on to the table."""
    try:
        say(f"The plot is in {draw()}.")
    except MissingExtra as missing:
        say(str(missing))


def _traces(path: str) -> list[Trace]:
    """The attention problems of a sheet."""
    from qkv import api

    solved = api.solve_sheet(sheet(path))
    traces = [trace for trace in solved.traces if any(step.role is Role.WEIGHTS for step in trace.program.steps)]
    if not traces:
        raise ValueRefused(f"{files.name_of(path)} holds no attention problem that could be read.")
    return traces


# The options for sizes: name, the size that it sets, and what that is.
SIZES = {
    "n": ("n", "Number of tokens (queries and keys alike)."),
    "nq": ("n_q", "Number of queries."),
    "nk": ("n_k", "Number of keys."),
    "d": ("d", "width of a token (d_model)."),
    "dk": ("d_k", "width of a query and key, per head."),
    "dv": ("d_v", "width of a value, per head."),
    "heads": ("h", "heads."),
    "kvheads": ("kv_heads", "heads of keys and values (all heads, unless said)."),
    "dff": ("d_ff", "width of the feed-forward layer."),
    "layers": ("layers", "blocks of a model."),
    "vocab": ("words", "words that a model knows."),
}
# The sizes of symbolic proofs: name, what is usual, and what it is.
PROOF_SIZES: dict[str, tuple[int, str | None]] = {
    "nq": (2, "Queries."),
    "nk": (3, "Keys, or tokens."),
    "d": (2, "Width of a token."),
    "dk": (2, "Width of a query and key."),
    "dv": (2, "Width of a value."),
    "heads": (2, None),
}


def _sizes(command: Command) -> Command:
    for name, (_, says) in reversed(SIZES.items()):
        command = click.option(f"--{name}", type=int, help=says)(command)
    return command


def _proof_sizes(command: Command) -> Command:
    for name, (usual, says) in reversed(PROOF_SIZES.items()):
        command = click.option(f"--{name}", type=int, default=usual, show_default=True, help=says)(command)
    return command


@click.command(name="cost")
@click.argument("path", metavar="[SHEET]", required=False)
@click.option("--kind", type=str, default="attention", show_default=True, help=f"One of {', '.join(KINDS)}.")
@_sizes
@click.option("--causal", is_flag=True, help="With a causal mask.")
@click.option("--unscaled", is_flag=True, help="Without the division by √d_k.")
@click.option("--convention", type=click.Choice([c.value for c in Convention]), default="textbook", show_default=True)
@click.option("--bytes", "width_bytes", type=click.IntRange(1, 16), default=4, show_default=True, help="Per number.")
@click.option("--plot", metavar="FILE", help="Growth with the number of tokens, as .png, .svg or .pdf.")
@with_output(FORMATS)
def cost_command(path: str | None, kind: str, width_bytes: int, plot: str | None, **more: Any) -> None:
    """Count what attention, a block or a model costs: operations by step, memory, parameters, KV cache.

    Sizes that are not given stay symbols. A sheet's problems are counted with their own sizes.

    \b
    Examples:
      qkv cost
      qkv cost --kind multi-head --n 1024 --d 768 --heads 12
      qkv cost --kind multi-head --d 768 --heads 12 --plot growth.svg
      qkv cost --kind block --d 768 --heads 12 --dff 3072
      qkv cost --kind model-with-biases --n 1024 --d 768 --heads 12 --dff 3072 --layers 12 --vocab 50257
      qkv cost sheet.md --convention flops
    """
    counting = Convention(more["convention"])
    if path is not None:
        if plot:
            raise ValueRefused("A growth plot needs an open number of tokens; give --kind and sizes, not a sheet.")
        costs = [_titled(program_cost(trace.program, counting), trace) for trace in _traces(path)]
        shown = [block for counted in costs for block in blocks.cost_blocks(counted, None, width_bytes)]
        forms = [data.cost(counted, None, files.name_of(path)) for counted in costs]
        _write(shown, forms, more)
        return
    given: dict[str, int | None] = {size: more[name] for name, (size, _) in SIZES.items()}
    options: dict[str, Any] = {"scaled": not more["unscaled"], "causal": more["causal"], "convention": counting}
    counted = cost(kind, **options, sizes=given)
    growing = cost(kind, **options, sizes={**given, "n": None})
    meeting = crossing(growing) if KINDS[kind].one_sequence else None
    if plot:
        _plotted(lambda: plots.plot_growth(growing, plot, given["n"]))
    symbols = cost(kind, **options) if any(given.values()) else None
    _write(blocks.cost_blocks(counted, meeting, width_bytes, symbols), [data.cost(counted, meeting)], more)


def _titled(counted: Cost, trace: Trace) -> Cost:
    title = trace.program.title
    return counted._replace(kind=f"{counted.kind} ({title})") if title else counted


@click.command(name="scale")
@click.argument("path", metavar="[SHEET]", required=False)
@click.option("--dk", type=int, default=64, show_default=True, help="Width of a query and key.")
@click.option("--mu", type=float, default=0.0, show_default=True, help="Mean of a component.")
@click.option("--sigma", type=float, default=1.0, show_default=True, help="Standard deviation of a component.")
@click.option("--draws", type=int, default=20_000, show_default=True, help="Random dot products to simulate.")
@click.option("--keys", type=int, default=16, show_default=True, help="Keys in each softmax.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--plot", metavar="FILE", help="Entropy, largest weight and Jacobian norm against d_k.")
@with_output(FORMATS)
def scale_command(path: str | None, dk: int, keys: int, seed: int, plot: str | None, **more: Any) -> None:
    """Show why scores are divided by √d_k: derivation, simulation, and softmax without it.

    \b
    Examples:
      qkv scale
      qkv scale --dk 512 --plot scale.png
      qkv scale sheet.md
    """
    own = None
    if path is not None:
        own = _own(_traces(path))
        dk = own.d_k
    with waiting("drawing random scores"):
        estimates = simulate(dk, more["mu"], more["sigma"], more["draws"], seed)
        rows = saturation(sizes_up_to(dk), keys, seed=seed)
    if plot:
        _plotted(lambda: plots.plot_saturation(rows, plot))
    found = derive(), estimates, rows, own
    _write(blocks.scale_blocks(*found), [data.scale(*found)], more)


def _own(traces: list[Trace]) -> Any:
    """Softness of the first problem that has queries and keys."""
    for trace in traces:
        by_role = {item.role: item.symbol for item in reversed(tuple(trace.program.items))}  # the first of each role
        if {Role.Q, Role.K} <= by_role.keys():
            pair = (trace.digits(by_role[role], 17) for role in (Role.Q, Role.K))
            return own_scores(*([list(map(float, row)) for row in rows] for rows in pair))
    raise ValueRefused("The sheet has no queries and keys to look at.")


@click.command(name="prove")
@click.argument("claims", metavar="[IDENTITY | EQUATION]...", nargs=-1)
@click.option("--size", "shapes", metavar="A=2x3", multiple=True, help="The size of a name in an equation.")
@_proof_sizes
@click.option("--altered", is_flag=True, help="Also test statements that look alike and are false.")
@click.option("--list", "listing", is_flag=True, help="List the identities.")
@with_output(FORMATS)
def prove_command(claims: tuple[str, ...], shapes: tuple[str, ...], altered: bool, listing: bool, **more: Any) -> None:
    """Prove identities of attention, or any equation, in symbols and exactly; without a name, all identities.

    What is false is refuted by a counterexample.

    \b
    Examples:
      qkv prove --list
      qkv prove scores --nq 3 --dk 4
      qkv prove causal shift --altered
      qkv prove "(Q K^T)^T = K Q^T"
      qkv prove "(A B)^T = A^T B^T" --size A=2x2 --size B=2x2
    """
    if listing:
        table = Table(("identity", "says"), tuple((i.key, i.statement) for i in IDENTITIES))
        form = {"schema": "qkv.identities/1", "identities": [{"key": i.key, "latex": i.latex} for i in IDENTITIES]}
        _write([table], [form], more)
        return
    sizes = Sizes(*(more[name] for name in PROOF_SIZES))
    chosen = [find(key).key for key in claims if "=" not in key]
    if not claims:
        chosen = [identity.key for identity in IDENTITIES]
    with waiting("proving"):
        equations = [(text, prove_statement(text, sizes, said_shapes(shapes))) for text in claims if "=" in text]
        found = [(prove(key, sizes), refute(key, sizes) if altered else ()) for key in chosen]
    shown = [block for proof, others in found for block in blocks.proof_blocks(proof, others)]
    shown += [block for text, verdict in equations for block in blocks.statement_blocks(text, verdict)]
    _write(shown, [data.proofs(found, equations)], more)
    if not all([proof.verdict.holds for proof, _ in found] + [verdict.holds for _, verdict in equations]):
        sys.exit(1)


@click.command(name="transport")
@click.argument("path", metavar="[SHEET]", required=False)
@click.option("--from", "source", metavar="MASSES", help='point:mass, such as "1:1, 2:1" or "(0,0):1/2, (1,2):1/2".')
@click.option("--to", "target_masses", metavar="MASSES", help="The same; masses alone sit on 1, 2, 3, …")
@click.option("--cost", "metric", default="distance", show_default=True, help="distance, squared or manhattan.")
@click.option("--cost-matrix", metavar="ROWS", help='Costs instead of points: "0 1; 1 0; 4 1".')
@click.option("--epsilon", type=float, help="Also Sinkhorn's plan with this weight of the entropy.")
@click.option("--attention", is_flag=True, help="Show softmax attention as one-sided entropic transport.")
@click.option("--plot", metavar="FILE", help="The plan, as .png, .svg or .pdf.")
@with_output(FORMATS)
def transport_command(path: str | None, epsilon: float | None, attention: bool, plot: str | None, **more: Any) -> None:
    """Move one distribution onto another at the least cost, with the proof that it is least.

    \b
    Examples:
      qkv transport --from "1:1,2:1" --to "4:1,6:1"
      qkv transport --from "3,2,1,4" --to "1,2,4,3"
      qkv transport --from "(0,0):1/2,(1,2):1/2" --to "(1,0):1" --cost squared
      qkv transport --from "1/2,1/3,1/6" --to "2/5,3/5" --cost-matrix "0 1; 1 0; 4 1"
      qkv transport --attention
      qkv transport sheet.md
    """
    if path is not None:
        results = _transports(path)
        parts = [block for result in results for block in blocks.transport_blocks(result)]
        forms = [data.transport(result) for result in results]
        _write(parts, forms, more)
        return
    if attention:
        shown = one_sided([[1, 2], [3, 1]], [[2, 1], [1, 1], [0, 1]])
        _write(blocks.one_sided_blocks(shown), [data.one_sided(shown)], more)
        return
    if more["source"] is None or more["target_masses"] is None:
        raise QkvError('Say what to move and where: --from "1:1,2:1" --to "4:1,6:1".')
    p, q = Distribution.parse(more["source"]), Distribution.parse(more["target_masses"])
    with waiting("moving"):
        result = transport(p, q, _matrix(more["cost_matrix"]) if more["cost_matrix"] else more["metric"])
    entropic = None
    if epsilon is not None:
        masses = [[to_float(mass) for mass in side.masses] for side in (p, q)]
        entropic = sinkhorn(masses[0], masses[1], result.costs.floats, epsilon)
    if plot:
        _plotted(lambda: plots.plot_transport(result, plot))
    parts = blocks.transport_blocks(result) + (blocks.entropic_blocks(entropic) if entropic else [])
    _write(parts, [data.transport(result, entropic)], more)


def _transports(path: str) -> list[TransportResult]:
    from qkv.theory.transport_sheet import transport_problems

    problems = transport_problems(sheet(path))
    if not problems:
        raise ValueRefused(f"{files.name_of(path)} states no transport problem that could be read.")
    return [problem.solved() for problem in problems]


def _matrix(text: str) -> list[list[str]]:
    """Rows apart by semicolons or lines, cells by blanks or commas."""
    rows = [row.replace(",", " ").split() for row in text.strip(" []").replace("\n", ";").split(";")]
    return [row for row in rows if row]


COMMANDS: dict[str, click.Command] = {
    "cost": cost_command,
    "scale": scale_command,
    "prove": prove_command,
    "transport": transport_command,
}
