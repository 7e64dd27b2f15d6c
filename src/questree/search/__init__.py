"""The index of images: subgraphs, related and distracting images, words that exclude each other."""
