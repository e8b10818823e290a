"""A fitted model on one page: a file of its own that opens anywhere and asks nothing of the network."""

from weft.report.page import write_report

__all__ = ["write_report"]
