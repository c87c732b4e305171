"""What the suites for a GPU share."""
