"""Recurrences: they ask a structure for its order."""
