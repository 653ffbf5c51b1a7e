"""SHEET → READING: what every name and every printed value of a page means, the page's own word first."""
