"""What may pass to a provider? HTTP before model APIs: what fits passes to the byte, what does not is cut in its place.

Behaviour W-1 to W-9. `routes` says which API a request is for, `conversations` remembers what was cut from whom, and `passage`
takes one request there and its answer back, which `answers` reads as far as it must. Around them `upstream` is the client, `app`
the server; `seen` counts what was done, and `page` and `metrics` show it. How a request becomes smaller is the carrier's.
"""
