"""What `scripts/bench_peers.py` is made of. A `run_*` module runs inside a peer's environment; see `runner`."""
