"""What fails on purpose: a store that answers by script, and a proxy that breaks connections."""

from soev_retrieval.testing.faults._proxy import FaultProxy
from soev_retrieval.testing.faults._scripted import Delay, Hang, Scripted

__all__ = ["Delay", "FaultProxy", "Hang", "Scripted"]
