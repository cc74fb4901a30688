"""Rollout generation, PPO, GRPO and DPO as programs: algorithms 1 to 4 of the paper, line by line.

`rollout`, `ppo`, `grpo` and `dpo` run with JAX and optax (extra `verify`); their comments give the paper's line
numbers. `listings` holds the same lines as data: text, lanes, parallelism and what each line needs.
"""
