"""Recording torch: a dispatch mode sees every operation of an unchanged module or function."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from qkv.compare.formula import Array
from qkv.compare.record.recording import Contraction, Node, Parameter, Recording, Tape, arrays, mapped, numbers

# Products → which arguments are the factors, and which of their axes are summed over.
PRODUCTS: Mapping[str, Contraction] = {
    "mm": Contraction(0, 1, (-1,), (-2,)),
    "bmm": Contraction(0, 1, (-1,), (-2,)),
    "addmm": Contraction(1, 2, (-1,), (-2,)),
    "baddbmm": Contraction(1, 2, (-1,), (-2,)),
    "mv": Contraction(0, 1, (-1,), (-1,)),
    "linear": Contraction(0, 1, (-1,), (-1,)),
}


def to_numpy(tensor: Any) -> Array:
    """A tensor's numbers, without rounding."""
    tensor = tensor.detach().cpu()
    if tensor.is_floating_point():
        tensor = tensor.double()
    return numbers(tensor.resolve_conj().resolve_neg().numpy())


def record(
    mine: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], constants: Mapping[int, str]
) -> Recording:
    """Run `mine` and take down every tensor that it makes. `constants` names arguments that are parameters, by id."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    tape = Tape()
    versions: dict[int, int] = {}

    def index(tensor: Any) -> int:
        """The node of a tensor as it is now; a tensor seen for the first time is a constant."""
        at = tape.find(tensor)
        if at is None:
            constant = id(tensor) not in inputs
            node = Node(
                "given", to_numpy(tensor), _dtype(tensor), constant=constant, name=constants.get(id(tensor), "")
            )
            at = tape.add(tensor, node)
        elif versions[id(tensor)] != tensor._version:  # a view of it was written to
            at = tape.note("mutated", tensor, to_numpy(tensor), _dtype(tensor), (at,))
        versions[id(tensor)] = tensor._version
        return at

    class Recorder(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            sources = [index(x) for x in _tensors((args, kwargs or {}))]
            out = func(*args, **(kwargs or {}))
            name = func.overloadpacket.__name__
            for tensor in _tensors(out):
                tape.note(name, tensor, to_numpy(tensor), _dtype(tensor), sources, PRODUCTS.get(name))
                versions[id(tensor)] = tensor._version
            return out

    inputs = {id(x) for x in _tensors((tuple(args), dict(kwargs))) if id(x) not in constants}
    with torch.no_grad(), _slow_paths(), Recorder():
        out = mine(*args, **kwargs)
    tensor = next(_tensors(out))
    return Recording(tuple(tape.nodes), to_numpy(tensor), _dtype(tensor), parameters_of(mine))


@contextmanager
def _slow_paths() -> Iterator[None]:
    """Fused attention in its parts, and no fast path of nn.MultiheadAttention, so that the stages can be seen."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with sdpa_kernel(SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def _dtype(tensor: Any) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _tensors(tree: Any) -> Iterator[Any]:
    return arrays(tree, _is_tensor)


def _is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def parameters_of(mine: Any) -> tuple[Parameter, ...]:
    """Parameters and buffers of a module, with what their owners say of them: nn.Linear keeps (out, in)."""
    import torch

    if not isinstance(mine, torch.nn.Module):
        return ()
    owners = dict(mine.named_modules())
    held = [*mine.named_parameters(), *mine.named_buffers()]
    made = []
    for name, tensor in held:
        if tensor.is_floating_point():
            owner = owners[name.rpartition(".")[0]]
            linear = isinstance(owner, torch.nn.Linear) or None
            made.append(Parameter(name, to_numpy(tensor), linear))
    return tuple(made)


def precise(mine: Any, tree: Any) -> tuple[Any, Any]:
    """A copy of a module in evaluation mode and float64, and its inputs in float64, so that rounding hides nothing."""
    import torch

    def double(x: Any) -> Any:
        return x.detach().double() if x.is_floating_point() else x

    module = copy.deepcopy(mine).double().eval() if isinstance(mine, torch.nn.Module) else mine
    return module, mapped(tree, _is_tensor, double)
