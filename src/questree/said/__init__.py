"""What models say in free text, read as answers."""
