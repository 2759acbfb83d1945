"""What runs may cost, what they did cost, and how many questions are worth asking."""
