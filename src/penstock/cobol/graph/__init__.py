"""What does an estate look like as one typed graph, and what does a change touch in it (C-16, C-17)?

`part_of` makes the part of one program from its facts; a part is small, holds no source and can be made in another process.
`EstateGraph` puts parts and members together, `impact` queries it about a name, `growth` finds what breaks when a field grows,
`Inventory` lists what programs use and what is missing, `export` writes the graph for other programs.

    parts = [part_of(facts(source, program), program, path) …]
    graph = EstateGraph(parts, members)
    impact(graph, "CU-BALANCE").edges

Values in, values out. Law: the citations of every edge support it.
"""

from __future__ import annotations

from .carrying import Carrying
from .columns import column_named
from .consequences import Grown
from .estates import EstateGraph
from .growth import growth
from .impact import DEPTH, Impact, TreeEdge, impact, nodes_named
from .inventory import DataSet, Inventory, Located, Missing, User
from .programs import part_of
from .structure import structure
from .values import KINDS, VERBS, Certainty, CitedLine, EstateEdge, Kind, NodeId, ProgramPart, Verb

__all__ = [
    "DEPTH",
    "KINDS",
    "VERBS",
    "Carrying",
    "Certainty",
    "CitedLine",
    "DataSet",
    "EstateEdge",
    "EstateGraph",
    "Grown",
    "Impact",
    "Inventory",
    "Kind",
    "Located",
    "Missing",
    "NodeId",
    "ProgramPart",
    "TreeEdge",
    "User",
    "Verb",
    "column_named",
    "growth",
    "impact",
    "nodes_named",
    "part_of",
    "structure",
]
