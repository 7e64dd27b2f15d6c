"""Lines of Python per package; as a script (`make size`) it prints them beside their budgets and lowers the limits that
`tests/test_size.py` holds."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIMITS = ROOT / "tests/data/sizes.toml"
PACKAGES = {  # package of the design -> what of `src/questree` it is today, and the lines it is to have in the end
    "language": (("terms.py", "readings", "rules", "notation"), 3_800),
    "vocabulary": (("vocabulary",), 1_100),
    "domains": (("domains",), 3_200),
    "benchmarks": (("benchmarks",), 2_200),
    "engine": (
        ("tables", "columns", "workers.py", "clusters", "places", "faults.py", "progress.py", "unforeseen.py"),
        3_000,
    ),
    "sources": (("sources",), 3_000),
    "formats": (("formats",), 3_600),
    "stages": (("stages", "search"), 12_500),
    "score": (("metrics", "scoring"), 5_000),
    "answers": (("said", "models", "ask", "endpoints"), 5_000),
    "people": (("people",), 1_800),
    "learn": (("features", "networks", "training"), 4_000),
    "show": (("show", "svg.py"), 5_200),
    "synth": (("synth", "draw"), 3_200),
    "api and cli": (("api", "cli", "__init__.py", "__main__.py"), 4_500),
    "plugins": (("plugins", "extensions.py"), 700),
}


def count_lines(place: Path) -> int:
    files = [place] if place.is_file() else place.rglob("*.py")
    return sum(len(file.read_text("utf-8").splitlines()) for file in files)


def package_sizes() -> dict[str, int]:
    source = ROOT / "src/questree"
    return {name: sum(count_lines(source / part) for part in parts) for name, (parts, _) in PACKAGES.items()}


def size_limits() -> dict[str, int]:
    return tomllib.loads(LIMITS.read_text("utf-8"))


def main() -> None:
    sizes, limits = package_sizes(), size_limits()
    print(f"{'package':12} {'lines':>7} {'limit':>7} {'budget':>7}")
    for name, (_, budget) in PACKAGES.items():
        print(f"{name:12} {sizes[name]:7,} {limits[name]:7,} {budget:7,}")
    budgets = sum(budget for _, budget in PACKAGES.values())
    print(f"{'together':12} {sum(sizes.values()):7,} {sum(limits.values()):7,} {budgets:7,}")
    lowered = {name: min(size, limits[name]) for name, size in sizes.items()}
    LIMITS.write_text("".join(f'"{name}" = {lines}\n' for name, lines in lowered.items()), "utf-8")


if __name__ == "__main__":
    main()
