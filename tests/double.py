"""Double precision in JAX for the length of a test, by whichever name the installed JAX has for it."""

from __future__ import annotations

import jax
import jax.experimental

enable_x64 = jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64
