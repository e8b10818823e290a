"""Layers that combine neighbours: they ask a structure for its edges."""
