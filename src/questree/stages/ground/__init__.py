"""What a question is about, box by box and frame by frame: inputs with all of it, only that, and all but that."""
