"""`weft inspect`: what is in a model folder."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.common import Json, answer


def inspect(model: Annotated[Path, typer.Argument(help="Folder of a model.")], as_json: Json = False) -> None:
    """What a model is: encoder, features, split, what held-out answers could have been seen, and how good it is."""
    from weft.estimators import load
    from weft.estimators.folder import describe

    estimator = load(model)
    told = describe(estimator)
    fitted = estimator.fitted_
    assert fitted is not None
    weights = sum(weight.numel() for weight in fitted.encoder.parameters())
    arguments = ", ".join(f"{name}={value}" for name, value in told["encoder"]["arguments"].items())
    lines = [
        f"{told['estimator']} · {told['encoder']['name']}({arguments}) · {weights:,} weights · weft {told['weft']}",
        f"fitted on {told['nodes']:,} things"
        + (f"; classes {', '.join(map(str, told['classes']))}" if "classes" in told else ""),
    ]
    if fitted.features is not None:
        lines += [f"  column {name}: {kind}" for name, kind in fitted.features.kinds().items() if kind != "skip"]
        lines += [f"  column {name}: left out, {reason}" for name, reason in fitted.features.left_out]
    for part, found in told["metrics"].items():
        lines.append(f"{part:>6}  " + "  ".join(f"{name} {value:.4f}" for name, value in found.items() if value is not None))
    lines += ["", str(fitted.certificate)]
    answer(told, as_json, "\n".join(lines))
