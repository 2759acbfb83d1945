"""Where contestants, equipment and models meet: composition, studies and the command line."""
