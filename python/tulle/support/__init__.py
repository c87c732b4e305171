"""What every other subpackage uses: error types and checks of arguments."""
