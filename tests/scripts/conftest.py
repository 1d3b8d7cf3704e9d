"""The makers in scripts/ are no package: their directory joins the path, as when Python runs one of them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
