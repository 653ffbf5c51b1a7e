"""Tokens → expressions: the notation, the page's names, brackets, arrays, calls and terms."""
