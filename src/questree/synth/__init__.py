"""A made-up world of home videos and rooms: raw files with the truth beside them."""
