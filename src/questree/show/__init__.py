"""What is shown the same way everywhere: colours, DAGs with answers, drawings. The page and the report share it."""
