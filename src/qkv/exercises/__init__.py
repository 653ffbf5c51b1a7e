"""Exercises for learners: drawn with good numbers, written as sheet, key and marking scheme, played step by step."""
