"""The judge's noise in lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gta.benchmark.judge_noise import Agreement, GateNoise, JudgeNoise
from pytest_gta.formats.wording import plural


def noise_lines(noise: JudgeNoise) -> Iterator[str]:
    """Yield a table of how far two judgings agree, and what the difference means for a gate."""
    yield f"the same outputs judged twice, at {noise.threshold:g} points"
    yield ""
    yield f"{'':<26}{'leaves':>26}{'tasks':>26}"
    both = (noise.leaves, noise.tasks)
    yield _row("judged twice", *(str(one.pairs) for one in both))
    yield _row("flipped", *(str(one.flipped) for one in both))
    yield _row("flip rate, %", *(_measure(one.flip_rate, one.flip_rate_ci, 1) for one in both))
    yield _row("mean difference, points", *(_measure(one.mean_difference, one.mean_difference_ci, 2) for one in both))
    yield _row("drift, points", *(_measure(one.drift, one.drift_ci, 2, signed=True) for one in both))
    yield _row("the very same score", *(_share(one) for one in both))
    yield ""
    if noise.flipped_tasks:
        yield f"flipped: {', '.join(noise.flipped_tasks)}"
    if noise.gate is None:
        yield "no task has two scores, so nothing can be said of a gate"
        return
    yield from _gate_lines(noise.gate)


def _gate_lines(gate: GateNoise) -> Iterator[str]:
    before, after = gate.root_sr
    yield f"Root SR {before:.1f} % and {after:.1f} %, over {plural(gate.tasks, 'task')}. For a gate over as many:"
    yield f"  --gta-fail-under: the judge alone moves Root SR by +-{gate.spread:.1f} points; keep that margin"
    yield f"  two judgings of the same outputs lie up to {gate.change:.1f} points apart"
    if gate.seen is None:
        yield "  --gta-baseline: no drop would be seen for certain, not even of all tasks; measure more tasks"
    else:
        worst = "none for certain" if gate.seen_at_worst is None else f"{gate.seen_at_worst:.1f}"
        ideal = "none" if gate.seen_without_noise is None else f"{gate.seen_without_noise:.1f}"
        yield (
            f"  --gta-baseline: a drop of {gate.seen:.1f} points or more is seen, 4 times in 5 "
            f"(at worst {worst}; a judge without noise {ideal})"
        )
    yield "This is the judge's noise alone; the agent's own comes on top of it (--gta-repeat shows that)."


def _row(name: str, *cells: str) -> str:
    return f"{name:<26}" + "".join(f"{cell:>26}" for cell in cells)


def _measure(value: float | None, interval: tuple[float, float] | None, digits: int, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    sign = "+" if signed else ""
    text = f"{value:{sign}.{digits}f}"
    return text if interval is None else f"{text} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


def _share(one: Agreement) -> str:
    return "-" if not one.pairs else f"{one.identical} ({100 * one.identical / one.pairs:.0f} %)"
