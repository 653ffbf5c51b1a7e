"""What attention costs, why it is scaled, and what the identities say: interpretations of the same programs."""
