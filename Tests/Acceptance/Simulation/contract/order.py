"""The order in which the edits of a push run."""

from .edits import BadPush, sent_values


def ordered(edits) -> list:
    """Edits in their order, but after the edits that create rows to which they refer."""
    makers = {}
    for edit in edits:
        for made in edit.creations():
            if made in makers:
                raise BadPush("temporary-twice")
            makers[made] = edit
    needs = {}
    for edit in edits:
        needs[edit.index] = set()
        for needed in edit.references():
            if needed not in makers:
                raise BadPush("unknown-temporary")
            if makers[needed] is not edit:
                needs[edit.index].add(makers[needed].index)
            elif any(f.references and v == needed[1] and edit.creates and edit.sent.get("id") == v
                     for c in edit.changes if c.section is edit.resource.root for f, v in sent_values(c)):
                raise BadPush("temporary-circle")
    done, waiting = [], list(edits)
    while waiting:
        ready = next((e for e in waiting if needs[e.index] <= {d.index for d in done}), None)
        if ready is None:
            raise BadPush("temporary-circle")
        waiting.remove(ready)
        done.append(ready)
    return done
