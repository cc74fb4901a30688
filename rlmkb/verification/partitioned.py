"""Partitioned training steps, compiled for eight devices and read: FLOPs, bytes and exchanges of one device.

    python -m rlmkb.verification.partitioned            print every row as JSON
    python -m rlmkb.verification.partitioned --execute  run small programs and print how far their results are apart

A processor can stand in for eight devices, but XLA fixes their number when JAX is first used. A notebook or a test run
has often used JAX before, with one device, so the work is done in a process of its own: `compare` and `execute` start
it and read what it prints.
"""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cached_property

from rlmkb.theory.traffic import ContextMethod
from rlmkb.theory.transforms import Zero
from rlmkb.verification import annotated, collectives, expected, sharded
from rlmkb.verification.layouts import AXES, Experts, Layout, Model

DEVICES = 8
#: The second saves time: machine code is not what is counted.
FLAGS = f"--xla_force_host_platform_device_count={DEVICES} --xla_backend_optimization_level=0"
DENSE = Model(B=32)
BYTES = 4  # of an element: single precision, and integers as wide


class Author(StrEnum):
    """Who put the exchanges into a program."""

    COMPILER = "compiler"
    HAND = "hand"


@dataclass(frozen=True)
class Case:
    """One program to compile.

    Parameters
    ----------
    layout : Layout
        How it is cut up.
    model : Model
        What is trained, and on how much.
    author : Author
        Whether the compiler finds the exchanges or they are written out.
    layers : bool
        Whether to compile it with one layer fewer too, for what a layer keeps.
    along_hidden : bool
        See `annotated.training_step`.
    """

    layout: Layout
    model: Model = DENSE
    author: Author = Author.HAND
    layers: bool = False
    along_hidden: bool = False

    def __post_init__(self) -> None:
        self.layout.check(self.model)

    @property
    def name(self) -> str:
        """The layout in words; how attention is spread is the compiler's choice where it has one."""
        name = self.layout.name
        return name if self.author is Author.HAND else name.replace(f", {ContextMethod.RING}", "")

    def step(self, model: Model | None = None) -> tuple[Callable, tuple]:
        """The jitted training step, of another model where one is given, and the shapes of its arguments."""
        model = model or self.model
        if self.author is Author.COMPILER:
            return annotated.training_step(model, self.layout, self.along_hidden)
        return sharded.training_step(model, self.layout)


def _with_layers(model: Model, layers: int) -> Model:
    return replace(model, shape=replace(model.shape, L=layers))


def _groups() -> dict[str, tuple[Case, ...]]:
    deep, routed = _with_layers(DENSE, 4), replace(DENSE, experts=Experts())
    two, ulysses = Layout(data=2, tensor=4), ContextMethod.ULYSSES
    by_compiler = (Layout(data=8), Layout(data=8, zero=Zero.PARAMETERS), Layout(context=8), Layout(tensor=8), two)
    wide = (Layout(tensor=8), Layout(tensor=8, sequence=True), two, Layout(context=8, method=ulysses),
            Layout(context=8))  # fmt: skip
    stages = (Layout(data=4, pipeline=2, micro_batches=8), Layout(data=2, pipeline=2, tensor=2, micro_batches=8))
    spread = (Layout(), Layout(expert=8, isolated=True), Layout(expert=8), Layout(data=2, expert=4),
              Layout(tensor=2, context=2, expert=2))  # fmt: skip
    return {
        "compiler": (Case(Layout(), author=Author.COMPILER, layers=True),
                     *(Case(layout, author=Author.COMPILER) for layout in by_compiler)),
        "data": tuple(Case(Layout(data=8, zero=zero), layers=zero in (Zero.NONE, Zero.PARAMETERS)) for zero in Zero),
        "model": tuple(Case(layout, layers=True) for layout in wide),
        "pipeline": (*(Case(layout) for layout in stages),
                     Case(Layout(pipeline=4, tensor=2, micro_batches=8), deep)),
        "experts": tuple(Case(layout, routed) for layout in spread),
    }  # fmt: skip


#: What is compared, by where the chapter shows it.
GROUPS = _groups()
CASES = tuple(case for cases in GROUPS.values() for case in cases)


@dataclass(frozen=True)
class Row:
    """One quantity of one device: as compiled, and as the formulas say.

    Parameters
    ----------
    layout, author : str
        Which program.
    experts : bool
        Whether the model has routed experts.
    quantity : str
        ``work`` (FLOP), ``inputs``, ``gradients``, ``state``, ``kept`` (bytes) or ``sent`` (elements).
    what : str
        More closely: the axes of an exchange and the collectives that XLA has.
    compiled, formula : float
        The two numbers.
    known : float, optional
        The formula with what this program does beyond it on purpose.
    """

    layout: str
    author: str
    experts: bool
    quantity: str
    what: str
    compiled: float
    formula: float
    known: float | None = None

    @property
    def axes(self) -> str:
        """Of an exchange: the axes whose ranks take part."""
        return self.what.partition(": ")[0] if self.quantity == "sent" else ""

    @property
    def collectives(self) -> str:
        """Of an exchange: what XLA has, and how often."""
        return self.what.partition(": ")[2]

    @property
    def ratio(self) -> float:
        """Compiled over formula."""
        return self.compiled / self.formula

    @property
    def known_ratio(self) -> float:
        """Compiled over what is known of the program, or over the formula."""
        return self.compiled / (self.known or self.formula)


class _Compiled:
    """What XLA says about one compiled program on one device."""

    def __init__(self, function: Callable, arguments: tuple) -> None:
        self.program = function.lower(*arguments).compile()

    @cached_property
    def flops(self) -> float:
        return self.program.cost_analysis()["flops"]

    @property
    def memory(self):
        return self.program.memory_analysis()

    @property
    def exchanges(self) -> list[collectives.Exchange]:
        return collectives.read(self.program.as_text())


def measure(case: Case) -> list[Row]:
    """Compile the programs of a case and compare them with the formulas.

    Needs a JAX with as many devices as the layout; `compare` starts one.
    """
    model, layout = case.model, case.layout
    step = _Compiled(*case.step())
    tokens = 2 * model.B * model.m / (layout.data * layout.context * (1 if layout.isolated else layout.expert))
    known = expected.work_as_programmed(model, layout) if case.author is Author.HAND else None
    rows = [
        ("work", "", step.flops, expected.work(model, layout), known),
        ("inputs", "weights and tokens", step.memory.argument_size_in_bytes,
         BYTES * (expected.weights(model, layout) + tokens), None),
    ]  # fmt: skip
    if layout.zero is not Zero.OPTIMIZER:  # whose gradients are whole until the update
        rows.append(("gradients", "", step.memory.output_size_in_bytes,
                     BYTES * expected.gradients(model, layout), None))  # fmt: skip
    sent = step.exchanges
    if case.author is Author.HAND and layout.used == ("data",):
        update = _Compiled(*sharded.optimizer_step(model, layout))
        rows.append(("state", f"ZeRO-{int(layout.zero)}", update.memory.argument_size_in_bytes,
                     BYTES * expected.state(model, layout), None))  # fmt: skip
        sent += update.exchanges
    if case.layers:
        rows.append(("kept", "for the backward pass, per layer", *_kept(case, step)))
    rows += _sent(case, sent)
    return [Row(case.name, case.author, model.experts is not None, *row) for row in rows]


def _kept(case: Case, step: _Compiled) -> tuple[float, float, float]:
    """Temporary bytes that the last layer adds: what is kept, without what is only passing."""
    model, layout = case.model, case.layout
    fewer = _Compiled(*case.step(_with_layers(model, model.shape.L - 1)))
    grown = step.memory.temp_size_in_bytes - fewer.memory.temp_size_in_bytes
    return grown, BYTES * expected.activations(model, layout), BYTES * expected.activations_as_traced(model, layout)


def _sent(case: Case, found: list[collectives.Exchange]) -> list[tuple]:
    """By axes: elements sent, and what XLA's collectives are. Below a thousandth of the whole: the loss, norms."""
    layout = case.layout
    degrees = {axis: layout.degree(axis) for axis in AXES}
    formula, known = expected.sent(case.model, layout), expected.sent_as_programmed(case.model, layout)
    compiled, kinds = {}, {}
    for exchange in found:
        axes = collectives.axes_of(exchange.groups, degrees)
        compiled[axes] = compiled.get(axes, 0.0) + exchange.sent(layout.devices)
        kinds.setdefault(axes, []).append(str(exchange.kind))
    small = sum(formula.values()) / 1000
    return [
        ("sent", f"{'+'.join(axes)}: {_counted(kinds.get(axes, []))}", compiled.get(axes, 0.0),
         formula.get(axes, 0.0), known.get(axes))
        for axes in dict.fromkeys((*formula, *compiled))
        if max(compiled.get(axes, 0.0), formula.get(axes, 0.0)) > small
    ]  # fmt: skip


def _counted(kinds: list[str]) -> str:
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))


def compare(cases: Iterable[Case] = CASES) -> list[Row]:
    """Every row of the given cases, measured in a process with eight devices.

    Returns
    -------
    list of Row
        In the order of `cases`.

    Raises
    ------
    RuntimeError
        If that process fails, with the end of what it said.
    """
    return [Row(**row) for row in _elsewhere(cases)]


@dataclass(frozen=True)
class Agreement:
    """How far the results of a partitioned program are from those of the same program on one device."""

    layout: str
    author: str
    experts: bool
    loss: float  #: difference of the loss, over the loss
    gradient: float  #: largest difference in a gradient, over the largest element of that gradient


def execute(cases: Iterable[Case] = CASES) -> list[Agreement]:
    """Run every case on a small model; a dense one is compared with the canonical program."""
    return [Agreement(**row) for row in _elsewhere(cases, "--execute")]


def _elsewhere(cases: Iterable[Case], *arguments: str) -> list[dict]:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {FLAGS}"}
    command = [sys.executable, "-m", "rlmkb.verification.partitioned", "--given", *arguments]
    given = pickle.dumps(tuple(cases))
    done = subprocess.run(command, env=environment, input=given, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} failed: {done.stderr.decode(errors='replace')[-2000:]}")
    return json.loads(done.stdout)


def main(arguments: list[str]) -> None:
    """Print rows as JSON; with ``--given``, of the cases that come pickled on standard input."""
    import jax

    if len(jax.devices()) < DEVICES:
        sys.exit(f"JAX sees {len(jax.devices())} of {DEVICES} devices; set XLA_FLAGS='{FLAGS}' before Python starts")
    cases = pickle.load(sys.stdin.buffer) if "--given" in arguments else CASES
    task = measure
    if "--execute" in arguments:
        from rlmkb.verification.execution import agree

        task = agree
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # XLA compiles without Python's lock
        rows = [row for rows in pool.map(task, cases) for row in rows]
    print(json.dumps([asdict(row) for row in rows]))


if __name__ == "__main__":
    # this file under its own name: what was pickled there is of the same classes
    from rlmkb.verification import partitioned

    partitioned.main(sys.argv[1:])
