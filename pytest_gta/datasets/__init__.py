"""Datasets that are published elsewhere: fetched, checked, and kept in a folder of the user's."""
