"""Image facts -> questions about sets of images, with programs, answers and twins."""
