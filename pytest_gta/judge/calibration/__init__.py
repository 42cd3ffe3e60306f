"""How far a judge is to be trusted: its scores against people's, or another judge's."""
