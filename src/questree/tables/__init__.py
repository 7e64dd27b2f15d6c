"""Every table's columns declared as data, and how tables reach the disk whole or not at all."""
