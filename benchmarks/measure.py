"""How time and memory are taken: interleaved, after a correctness gate, with spread."""

import random
import resource
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from weft.ops import buffers

Run = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Milliseconds of every repeat, and the most memory in bytes: what one run added, and all that was held then."""

    milliseconds: list[float]
    peak_bytes: int
    whole_bytes: int

    @property
    def median(self) -> float:
        return statistics.median(self.milliseconds)


def interleave(runs: Mapping[str, Run], device: str, seconds: float = 40.0, most: int = 20) -> dict[str, Timing]:
    """Every contender in turn, forwards and backwards (ABBA), 4 to `most` times within about `seconds`; long ones twice."""
    once = {}
    for name, run in runs.items():  # twice: the first compiles and warms up
        run()
        once[name] = clock(run, device)
    round_of_all = sum(once.values()) / 1e3
    repeats = max(4 if round_of_all < seconds else 2, min(most, int(seconds / max(round_of_all, 1e-9))))
    taken: dict[str, list[float]] = {name: [] for name in runs}
    order = list(runs)
    for turn in range(repeats):
        for name in order if turn % 2 == 0 else order[::-1]:
            taken[name].append(clock(runs[name], device))
    return {name: Timing(taken[name], *peak_memory(run, device)) for name, run in runs.items()}


def attempt(run: Callable[[], list[Tensor]]) -> list[Tensor] | None:
    """What a run gives, or None where it does not find the memory it needs on the GPU."""
    try:
        return [part.detach() for part in run()]
    except torch.OutOfMemoryError:
        torch.cuda.empty_cache()
        return None


def clock(run: Run, device: str) -> float:
    """Milliseconds of one run; short ones are repeated without a pause, as in training, until they can be told apart."""
    taken = _lapse(run, device, 1)
    times = int(50 / max(taken, 1e-3))
    return taken if times <= 1 else _lapse(run, device, times)


def _lapse(run: Run, device: str, times: int) -> float:
    """Milliseconds of each of so many runs."""
    if device == "cuda":
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        for _ in range(times):
            run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / times
    start = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - start) / times * 1e3


def peak_memory(run: Run, device: str) -> tuple[int, int]:
    """The most memory that one run added to what was there before, and with what was there."""
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        run()
        torch.cuda.synchronize()
        return torch.cuda.max_memory_allocated() - before, torch.cuda.max_memory_allocated()
    buffers.waiting.forget()  # what weft keeps for its next result counts as its own
    reset = Path("/proc/self/clear_refs")
    reset.write_text("5")  # forget the earlier peak
    before = _status("VmRSS")
    run()
    return max(0, _status("VmHWM") - before), _status("VmHWM")


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def error(found: list[Tensor], reference: list[Tensor]) -> float:
    """The largest ‖found - reference‖ / ‖reference‖ of the parts, in float64; infinite where anything is NaN.

    A part that is nothing but rounding (the gradient of a bias that a softmax cancels) is held against a
    thousandth of the largest part instead of against itself.
    """
    parts = [(ours.detach().double().cpu(), true.detach().double().cpu()) for ours, true in zip(found, reference, strict=False)]
    least = max((float(true.norm()) for _, true in parts), default=1.0) * 1e-3
    errors = [float((ours - true).norm()) / max(float(true.norm()), least) for ours, true in parts]
    return max((error if error == error else float("inf") for error in errors), default=0.0)


def ratio_interval(ours: list[float], theirs: list[float], draws: int = 2000) -> tuple[float, float]:
    """A 95 % bootstrap interval of the ratio of the medians (theirs over ours)."""
    dice = random.Random(0)
    ratios = sorted(
        statistics.median(dice.choices(theirs, k=len(theirs))) / statistics.median(dice.choices(ours, k=len(ours)))
        for _ in range(draws)
    )
    return ratios[int(0.025 * draws)], ratios[int(0.975 * draws)]
