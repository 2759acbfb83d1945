"""What `arena bench` measures: this project's own speed and memory."""
