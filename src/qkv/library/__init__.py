"""What qkv knows, as data."""
