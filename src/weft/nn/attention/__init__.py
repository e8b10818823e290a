"""Attention over any structure."""
