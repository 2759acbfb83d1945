"""A run held against a baseline, or against floors of its own: is it good enough to be merged?"""
