"""What an implementation may rightly mean: its projections, heads, masks and positions, found out from a recording."""
