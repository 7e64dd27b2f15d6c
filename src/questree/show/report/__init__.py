"""One file to mail: what a run is and how models did on it, as tables, plots and worked failures."""
