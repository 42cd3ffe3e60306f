"""From a raw request to a task: drafted and criticised by a model, decided on by a person."""
