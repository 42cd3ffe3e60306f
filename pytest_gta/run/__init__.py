"""A run: its agents side by side, each with a bench and a directory of its own; and what is done with it afterwards."""
