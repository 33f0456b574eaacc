"""What goes into one prompt? A source divided into chunks within a budget, and the answers about them merged again.

Laws: the chunks of a source partition its lines; each is within the budget, or is a single statement or line that is not, and says
so; same input, same chunks. Leaves to others: models, files, and what is asked about a chunk.
"""

from __future__ import annotations

from .chunks import Chunk, ChunkPlan, Overhead
from .cobol import plan
from .general import chunk
from .merging import merge
from .template import Template

__all__ = ["Chunk", "ChunkPlan", "Overhead", "Template", "chunk", "merge", "plan"]
