"""The boundary to the compiled libraries: loading, typed operators, element types and devices."""
