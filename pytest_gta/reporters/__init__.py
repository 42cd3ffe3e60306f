"""What a run looks like from outside: each module turns a `RunResult` into one rendering of it."""
