"""Numba kernels that the folders above `pairs` still build on; the compiled core (`core/`) replaces them in stages."""
