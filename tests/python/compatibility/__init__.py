"""The table of torch's functions and storage formats that docs/compatibility.md shows."""
