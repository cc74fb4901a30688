"""The theory held against programs: a canonical Transformer in JAX, and counts from its traced graph.

The theory knows nothing of this package, which needs the extra `verify`.
"""

from importlib.util import find_spec

if find_spec("jax") is None:
    raise ImportError("rlmkb.verification traces programs with JAX: install rlmkb[verify]")
