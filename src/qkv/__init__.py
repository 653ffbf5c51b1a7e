"""Attention, worked out, checked, explained and run."""
