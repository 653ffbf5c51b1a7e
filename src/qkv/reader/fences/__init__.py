"""What stands in fences: Python, which is read and never run, and what it printed."""
