"""Pictures of patterns and searches."""
