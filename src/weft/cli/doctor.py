"""`weft doctor`: what this machine has, and which kernels will run."""

import platform
from importlib.metadata import PackageNotFoundError, version

from weft.cli.common import Json, answer

PACKAGES = ("weft", "torch", "numba", "numpy", "pyarrow", "safetensors", "triton")


def doctor(as_json: Json = False) -> None:
    """What this machine has, and which kernels will run here, with reasons."""
    import torch

    from weft.ops import aggregate, attend, explain
    from weft.structure import Sparse

    versions: dict[str, str] = {}
    for name in PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "not installed"
    device = "cuda" if torch.cuda.is_available() else "cpu"
    over = Sparse.from_edges([0, 1, 2], [1, 2, 0], num_targets=3).to(device)
    x = torch.ones(3, 1, 4, device=device)
    with explain() as plan:
        aggregate(x, over)
        attend(x, x, x, over)
    found = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if device == "cuda" else None,
        "versions": versions,
        "kernels": [str(choice) for choice in plan.choices],
    }
    lines = [f"python {found['python']} on {found['system']}, {found['threads']} threads, GPU: {found['gpu'] or 'none'}"]
    lines += [f"  {name} {each}" for name, each in versions.items()]
    answer(found, as_json, "\n".join([*lines, "kernels that run here:", str(plan)]))
