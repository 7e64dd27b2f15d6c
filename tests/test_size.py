"""No package grows: `make size` lowers the limits when one has become smaller."""

import pytest

from worlds.sizes import PACKAGES, ROOT, count_lines, package_sizes, size_limits


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_is_no_larger_than_it_was(package: str) -> None:
    assert package_sizes()[package] <= size_limits()[package]


def test_every_line_belongs_to_a_package() -> None:
    assert sum(package_sizes().values()) == count_lines(ROOT / "src/questree")
