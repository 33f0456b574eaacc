"""How do many machines document one estate? Questions wait in a database, workers take them, and any machine makes the site.

    runs.start(database, found, title, model=…)     where the files are: they go into the queue with their jobs
    QueueWorker(url, model_of, wires).run()         anywhere, any number
    finish(database, run, out)                      anywhere, when it is done

The engine is procrastinate's (`engine`, `worker`); what must hold whatever the engine does is ours: an answer is accepted once
(`accepted`), all workers together keep to a key's limits (`limits`), a lost job is found (`worker`). Law: killing any process at
any time, or the database, loses no accepted answer and no chunk. Leaves to others: what a question is (`penstock.scribe`).
"""
