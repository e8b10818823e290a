"""What is to be learnt: a loss, an answer in the user's terms, and how good it is."""

from weft.objectives.base import Loss, Objective
from weft.objectives.classify import Classify
from weft.objectives.regress import Regress

__all__ = ["Classify", "Loss", "Objective", "Regress"]
