"""Deliberate distortions for the checks. Each one must be reported."""

EXPECTED = {"": None, "dropped-change": "replica", "undone-push": "sum", "canary": "disclosure"}


def self_test(runner, history: dict) -> int:
    failed = 0
    for events in history["rounds"]:
        # After a restore, a snapshot would repair the dropped change.
        events["restore"] = ""
    for distortion, kind in EXPECTED.items():
        found = {kind for kind, _ in runner.run(history, distortion).found}
        is_right = (not found) if kind is None else kind in found
        print(f"{'ok' if is_right else 'FAILED'}: {distortion or 'no distortion'}: {sorted(found) or 'nothing found'}", flush=True)
        failed += not is_right
    return failed
