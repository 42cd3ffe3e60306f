"""A task's folder: staging, the one path resolver, deliverables, and the confined processes that work in it."""
