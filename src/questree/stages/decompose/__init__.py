"""Every question's DAG of sub-questions, as tables of nodes and edges."""
