"""A gold set: deliverables of known quality, with the verdicts that follow from how they were made."""
