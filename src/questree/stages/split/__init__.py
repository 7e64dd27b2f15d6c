"""Questions -> train and test: by video, and by what a question is made of."""
