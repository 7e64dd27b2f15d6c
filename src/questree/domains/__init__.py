"""Domains: facts in memory and the operators over them."""
