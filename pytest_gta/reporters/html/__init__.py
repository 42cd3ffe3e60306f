"""The report: one self-contained HTML page of a run. `page.write_report` makes it."""
