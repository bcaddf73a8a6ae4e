"""Core ML encoders: built from the weights, proved, compiled, checked; each step in a process of its own."""
