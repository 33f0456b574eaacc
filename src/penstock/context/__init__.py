"""How does a request fit? Its bill, what may be forgotten of it, and the way out when a provider refuses it."""
