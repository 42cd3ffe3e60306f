"""One client for OpenAI-compatible endpoints, and the bundled local model."""
