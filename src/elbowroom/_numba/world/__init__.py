"""Obstacles for the kernels of folders that are not on the compiled core yet: `packed` holds arrays, `kernels` loads numba."""
