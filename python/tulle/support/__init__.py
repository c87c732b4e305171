"""What every other subpackage uses: error types, checks of arguments, splitting of text."""
