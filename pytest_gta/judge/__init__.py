"""The judge: evidence of what was delivered, one question a leaf, a validated score or a named failure."""
