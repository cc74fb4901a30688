"""Published measurements that chapters compare predictions with; every row names its source."""

from typing import TYPE_CHECKING

from rlmkb.data import data_path
from rlmkb.errors import InputError, nearest

if TYPE_CHECKING:
    import pandas as pd


def measurements(name: str) -> "pd.DataFrame":
    """One file of `data/measurements`.

    Parameters
    ----------
    name : str
        File name without its ending. ``"rl_phase_times"``: seconds of each phase of PPO and GRPO steps, means over
        the steps named, read from the logs of two runs on eight GPUs; means of lengths in tokens.

    Returns
    -------
    pandas.DataFrame
        One row for each measurement; ``source_repo``, ``commit`` and ``path`` say where it stands.

    Raises
    ------
    InputError
        If there is no such file.

    Examples
    --------
    >>> runs = measurements("rl_phase_times").set_index("id")
    >>> float(runs.loc["ppo-2-11", "policy_training_s"])
    6.844
    """
    import pandas as pd

    known = {path.stem: path for path in sorted(data_path("measurements").glob("*.csv"))}
    if name not in known:
        raise InputError(f"there are no measurements {name!r}; available, nearest first: {nearest(name, known)}")
    return pd.read_csv(known[name])
