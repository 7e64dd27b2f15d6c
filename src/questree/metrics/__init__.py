"""Tables -> scores; what counts a metric opens with its formula and where it is from."""
