"""STOMP: stochastic trajectory optimisation, and the costs that it keeps low."""
