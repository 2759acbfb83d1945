"""A second look at the candidates of a query: cross-encoders, and late interaction where none can be had."""
