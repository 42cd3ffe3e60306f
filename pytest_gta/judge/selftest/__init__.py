"""Whether a judge can be talked into a score by what it grades."""
