"""docs/seed_systems.md: five systems that this project grew from, and the commands that do here what each of them did.

The page holds its commands; this package runs them and puts what they print below each. Encoder and reader are made on
the spot, so that anyone gets the page's figures without a download, on any machine.
"""
