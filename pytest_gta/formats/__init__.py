"""What a file holds: facts, text in reading order, pictures and faults."""
