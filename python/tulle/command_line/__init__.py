"""The commands of `python -m tulle`, and the operands that they name."""
