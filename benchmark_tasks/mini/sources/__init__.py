"""Where the tasks of `mini` come from: one module a task, with its input files, request, rubric and derivations."""
