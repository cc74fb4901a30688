"""Live formulas: panels that compute in the page, from the same expressions as everything else."""
