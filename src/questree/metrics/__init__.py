"""Tables -> scores; every metric is a small file that opens with its formula and where it is from."""
