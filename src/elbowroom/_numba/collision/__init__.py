"""Motions for the kernels of folders that are not on the compiled core yet: arrays in `parts`, code in `kernels`."""
