"""The commands of `python -m tulle`."""
