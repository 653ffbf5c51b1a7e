"""Calling an implementation in its own framework and taking down every array that it makes."""
