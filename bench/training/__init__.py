"""Networks that are trained with each library."""
