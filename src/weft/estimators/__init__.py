"""From data to answers one can trust: `fit`, `predict`, `save`, `load`."""

from weft.estimators.base import Estimator
from weft.estimators.certificate import Certificate, Statement
from weft.estimators.leaderboard import Leaderboard
from weft.estimators.loading import load
from weft.estimators.node_classifier import NodeClassifier
from weft.estimators.node_regressor import NodeRegressor

__all__ = ["Certificate", "Estimator", "Leaderboard", "NodeClassifier", "NodeRegressor", "Statement", "load"]
