"""The suites, one in each file. A suite measures rows and compares them with Tulle's promises."""
