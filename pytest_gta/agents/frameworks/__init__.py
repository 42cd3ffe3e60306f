"""Agents of other frameworks under test: each module adapts the ready agents of one, and builds a plain one.

A framework's module is imported only where an agent of that framework is run.
"""
