"""Strategies held against each other at one price: settings under which all spend the same per question."""
