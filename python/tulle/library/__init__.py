"""The boundary to the compiled libraries: loading them, their operators with types, element types,
devices, and the settings of the compiled code."""
