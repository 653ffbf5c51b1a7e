"""A worked solution as people hold it in Python: quantities by name, and the whole in any format."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qkv.errors import NameUnknownError, ValueRefused
from qkv.expr import nodes as n
from qkv.expr.show import latex, symbol_latex
from qkv.interpret.certified import Value
from qkv.interpret.counts import Counted, count
from qkv.interpret.fit import Shape
from qkv.interpret.rounding import round_digits, round_places
from qkv.interpret.trace import Table, Trace, decided
from qkv.program.gradients import backwards
from qkv.program.views import resolve
from qkv.render.options import DEFAULT, Depth, Options

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from qkv.reader.model import Unread

SHOWN_DIGITS = 6
FLOAT_DIGITS = 25  # more than a float needs, so that reading the decimal back gives the nearest float


@dataclass(frozen=True, repr=False)
class Quantity:
    """One quantity of a worked solution: every digit that it shows is proven.

    `digits(6)` and `decimals(3)` give its cells as text, rows first; `shape` its rows and columns; `exact` says whether
    each cell is known as a fraction; `to_numpy()` gives the nearest floats.

    >>> import qkv
    >>> weights = qkv.work(Q=[[1, 2]], K=[[2, 1], [1, 1]], V=[[1], [3]])["A"]
    >>> weights.shape, weights.decimals(3), weights.exact
    ((1, 2), (('0.670', '0.330'),), False)
    """

    name: str
    expr: n.Expr
    trace: Trace

    @property
    def shape(self) -> Shape:
        """Rows and columns."""
        return self._value().shape

    @property
    def exact(self) -> bool:
        """Whether every cell is a rational number, known exactly."""
        return self._value().exact

    def digits(self, digits: int = SHOWN_DIGITS) -> Table:
        """The cells to significant digits; numbers that are shorter stay as they are."""
        return decided(self._value, lambda cell: round_digits(cell, digits))

    def decimals(self, places: int) -> Table:
        """The cells to decimal places."""
        return decided(self._value, lambda cell: round_places(cell, places))

    def to_numpy(self) -> npt.NDArray[np.float64]:
        """The nearest floats."""
        import numpy as np  # asked for by name, so paid for here

        return np.array([[float(text) for text in row] for row in self.digits(FLOAT_DIGITS)])

    def _value(self, bits: int | None = None) -> Value:
        return self.trace.evaluate(self.expr) if bits is None else self.trace.evaluate(self.expr, bits)

    def __str__(self) -> str:
        columns = list(zip(*self.digits(), strict=True))
        widths = [max(map(len, column)) for column in columns]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in self.digits())

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"{self.name} ({rows}×{columns})\n{self}"

    def _repr_latex_(self) -> str:
        name = latex(self.expr) if isinstance(self.expr, n.Name) else r"\text{" + self.name.replace("_", r"\_") + "}"
        return f"$\\displaystyle {name} = {_matrix(self.digits())}$"


@dataclass(frozen=True, repr=False)
class Solution:
    """A worked problem, or all problems of a document; indexing it gives a quantity.

    >>> import qkv
    >>> s = qkv.work(Q=[[1, 2], [3, 1]], K=[[2, 1], [1, 1], [0, 1]], V=[[1, 2, -2], [1, 1, 2], [0, 1, -1]])
    >>> s["A"].decimals(4)
    (('0.5760', '0.2840', '0.1400'), ('0.8816', '0.1057', '0.0127'))
    >>> print(s["z_1,2"], s["q_2"])
    3 3  1
    """

    traces: tuple[Trace, ...]
    file: str = ""
    unread: tuple[Unread, ...] = ()
    advice: tuple[str, ...] = ()  # where nothing could be worked out: what was read, what is missing, what to write

    @property
    def problems(self) -> tuple[Solution, ...]:
        """The problems one by one."""
        return tuple(Solution((trace,), self.file, self.unread) for trace in self.traces)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed, repaired or could not be worked."""
        return tuple(note for trace in self.traces for note in trace.program.notes)

    @property
    def names(self) -> tuple[str, ...]:
        """What can be asked for: givens, then steps (q_1, z_12 and their like come on top)."""
        programs = [trace.program for trace in self.traces]
        return tuple(dict.fromkeys(item.spelled for p in programs for kind in (p.givens, p.steps) for item in kind))

    def __getitem__(self, name: str) -> Quantity:
        found = [
            Quantity(name, expr, trace) for trace in self.traces if (expr := resolve(name, trace.program)) is not None
        ]
        if not found:
            raise NameUnknownError(f"there is no {name} here; there are {', '.join(self.names)}")
        if len(found) > 1:
            raise NameUnknownError(f"{name} occurs in {len(found)} problems; ask one of them: s.problems[0][{name!r}]")
        return found[0]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(resolve(name, trace.program) for trace in self.traces)

    def cost(self) -> Counted:
        """The operations of every step, counted exactly."""
        return Counted(tuple(step for trace in self.traces for step in count(trace.program).steps))

    def backward(
        self, of: str | None = None, gradient: object = None, rate: object = None, jacobian: bool = False
    ) -> Solution:
        """The gradients of one quantity by everything that it is made of, as further steps: dV, dQ, dW_Q …

        of        the quantity: the loss, or the last step, unless said
        gradient  what comes back to it: ones of its shape (1 for the loss) unless said
        rate      also W_Q' = W_Q − rate · dW_Q and its like: one step of gradient descent
        jacobian  also diag(a) − aᵀ a for each row a of a softmax: J_2^A is that of row 2 of A

        >>> import qkv
        >>> s = qkv.work(Q=[[1, 2]], K=[[2, 1], [1, 1]], V=[[1], [3]])
        >>> print(s.backward()["dV"])
        0.669762
        0.330238
        """
        if len(self.traces) != 1:
            raise ValueRefused(f"there are {len(self.traces)} problems here; ask one of them: s.problems[0].backward()")
        return Solution((Trace(backwards(self.traces[0], of, gradient, rate, jacobian)),), self.file, self.unread)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(trace.program.kind for trace in self.traces)) or "nothing to work out"
        return f"<Solution: {kinds}; {', '.join(self.names)}>"

    def to_text(self, width: int | None = None, **options: Any) -> str:
        """The worked steps as plain text, as wide as the terminal if no width is said."""
        return self._rendered("text", width or shutil.get_terminal_size((100, 24)).columns, **options)

    def to_markdown(self, **options: Any) -> str:
        """The worked steps in Markdown; options are depth ("brief", "normal", "full"), digits and places."""
        return self._rendered("markdown", **options)

    def to_latex(self, **options: Any) -> str:
        """The worked steps in LaTeX; options as for Markdown."""
        return self._rendered("latex", **options)

    def to_json(self, **options: Any) -> str:
        """The form `qkv.solution/1`; numbers are strings, so that no digit is lost."""
        return self._rendered("json", **options)

    def _rendered(self, form: str, width: int = 100, **options: Any) -> str:
        from qkv.render.targets import Target, solutions  # rich is heavy: loaded when something is printed

        if "depth" in options:
            options["depth"] = Depth(options["depth"])
        chosen = Options(**options) if options else DEFAULT
        return str(solutions([self], chosen, Target(form, width)))

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        from qkv.render import html  # only a notebook asks for it

        return html.solution(self)

    def _repr_latex_(self) -> str:
        lines = [
            rf"{symbol_latex(step.symbol)} &= {latex(step.expr)} = {_matrix(trace.digits(step.symbol, SHOWN_DIGITS))}"
            for trace in self.traces
            for step in trace.program.steps
        ]
        return "$$\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}$$"


def _matrix(rows: Table) -> str:
    return latex(n.Matrix(tuple(tuple(_cell(text) for text in row) for row in rows)))


def _cell(text: str) -> n.Expr:
    return n.Infinite(-1) if text == "-inf" else n.number(text)
