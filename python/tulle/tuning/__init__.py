"""The search for the fastest formats and schedule of a computation: what it tries, how it measures
and decides, what it stores, how it reports."""
