"""One estate, many machines: what is to be asked lies in a database, workers anywhere take from it, and somebody makes the site.

    runs.start(database, found, title, model=…)     whoever has the files: they go into the queue with their jobs
    QueueWorker(url, model_of, wires).run()         anywhere, any number
    finish(database, run, out)                      anywhere, when it is done

The engine is procrastinate's (`engine`, `worker`); what must hold whatever an engine does is ours: an answer is accepted once
(`accepted`), a key's limits are kept by all together (`limits`), a job that is lost is found (`worker`). Law: a kill of any process
at any time, and of the database, loses no accepted answer and no chunk. Keeps out: what a question is (`penstock.scribe`).
"""
