"""Time and memory of weft beside its peers; see `registry.py` for what is measured."""
