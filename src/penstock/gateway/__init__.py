"""What may pass to a provider? HTTP in front of model APIs: what fits passes to the byte, what does not is cut in place.

Behaviour W-1 to W-9. `routes` tells which API a request is for, `conversations` remembers what was cut for whom, and `passage`
takes one request to its provider and the answer back, which `answers` reads as far as necessary. Around them `upstream` is the
client and `app` the server; `seen` counts what was done, and `page` and `metrics` show it. Leaves to others: how a request becomes
smaller (`carrier`).
"""
