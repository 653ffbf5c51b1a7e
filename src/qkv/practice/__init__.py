"""Sheets with keys: problems worked by hand, written down in many notations, with slips put in on purpose."""
