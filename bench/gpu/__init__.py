"""Code that the GPU suites share."""
