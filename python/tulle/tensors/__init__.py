"""The sparse tensor: formats, patterns, the class with its methods, printing, PyTorch's hooks."""
