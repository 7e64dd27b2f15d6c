"""What models see instead of pixels: features of videos and images, made from facts or by a backbone, kept in a run."""
