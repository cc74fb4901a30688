"""Where the data folder is: beside the package in a checkout, inside it in an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_path(*parts: str) -> Path:
    """Path of a file or folder of `data/`.

    Parameters
    ----------
    *parts : str
        Path components below `data/`, for example ``"architectures"``.

    Returns
    -------
    pathlib.Path
        The folder inside the wheel if there is one, else the one of the checkout.

    Examples
    --------
    >>> data_path("references.bib").name
    'references.bib'
    """
    inside = _PACKAGE / "_data"
    root = inside if inside.is_dir() else _PACKAGE.parent / "data"
    return root.joinpath(*parts)
