"""A complete, correct set of deliverables for each task of `mini`: proof that every task can be solved."""
