"""A need as a query: features with the least state that will do, and classes. The finder in the page asks the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode

from rlmkb.catalogue.frameworks import Framework

ENOUGH = {"yes": ("yes",), "partial": ("yes", "partial")}


@dataclass(frozen=True)
class Query:
    """What a framework must do.

    Attributes
    ----------
    features : mapping
        Feature to ``yes`` or to ``partial``, which is content with either.
    classes : tuple of str
        Any of these; all if empty.
    public : bool
        Whether its code must be public.
    """

    features: Mapping[str, str] = field(default_factory=dict)
    classes: tuple[str, ...] = ()
    public: bool = False

    def __call__(self, framework: Framework) -> bool:
        """Whether a framework meets it.

        Examples
        --------
        >>> from rlmkb.catalogue import entry
        >>> Query(classes=("library",))(entry("frameworks", "trl"))
        True
        """
        return (
            all(framework.features[name].state in ENOUGH[least] for name, least in self.features.items())
            and (not self.classes or framework.centre in self.classes)
            and (framework.repository is not None or not self.public)
        )

    def fragment(self) -> str:
        """The part of an address that makes the finder ask this.

        Examples
        --------
        >>> Query({"async": "yes"}, classes=("library", "scheduling")).fragment()
        'async=yes&class=library+scheduling'
        """
        parts = dict(self.features)
        if self.classes:
            parts["class"] = " ".join(self.classes)
        if self.public:
            parts["code"] = "public"
        return urlencode(parts)
