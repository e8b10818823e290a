"""The experiments of the field, run again: the published number beside ours."""

from weft.reproduce.index import write_pages
from weft.reproduce.page import write_page
from weft.reproduce.runner import Outcome, reproduce
from weft.reproduce.study import Study, names, read_study

__all__ = ["Outcome", "Study", "names", "read_study", "reproduce", "write_page", "write_pages"]
