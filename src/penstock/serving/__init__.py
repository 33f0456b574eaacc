"""Who may reach us over HTTP, and for how long is a connection kept? The same for every server: tools, relay, gateway, pages.

`listening` has the socket and the names under which requests may address us, `connections` ends those that hold on without working,
`token` keeps the secret that callers show, `asgi` sends an answer of ours, `signals` ends all. Leaves to others: what is served.
"""
