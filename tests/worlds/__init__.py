"""Small worlds, files and runs that tests are made of."""
