"""Work on a Dask cluster: the only package that imports Dask, and nobody imports it but for `--cluster`."""
