"""`python -m perf`: say which benchmarks there are; each is run on its own, since each wants the machine for itself."""

from pathlib import Path


def main() -> None:
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        title = path.read_text(encoding="utf-8").split('"""')[1].strip().splitlines()[0]
        print(f"python -m perf.{path.stem:16} {title}")


if __name__ == "__main__":
    main()
