"""READING → SOLUTION: what the page states is worked out; the library fills in what it leaves open."""
