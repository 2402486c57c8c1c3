"""What things cost here, each measured beside what it is compared with: `python -m benchmarks`."""
