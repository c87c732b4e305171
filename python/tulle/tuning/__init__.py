"""The search for the fastest formats and schedule of a computation."""
