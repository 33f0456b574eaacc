"""Who acts? The loop that drives a session, its toolbox, edits and commands behind a wall, and what its journal says happened."""
