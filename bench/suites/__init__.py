"""The suites, one a file: each measures rows and judges them against what Tulle promises."""
