"""The domain: tasks, scores, metrics, results. Knows neither pytest nor any model endpoint."""
