#!/bin/sh
# --stream: the same plays and the same tokens as without it, and a server that streams badly.
. "$(dirname "$0")/inc/common.sh"

for effort in none medium; do
    expect 0 "$G" rollout --limit 5 -g 3 --effort $effort -q -o "$T/whole-$effort"
    expect 0 "$G" rollout --limit 5 -g 3 --effort $effort --stream -q -o "$T/stream-$effort"
    expect 0 python3 tests/lib/same_games.py "$T/whole-$effort" "$T/stream-$effort" 0
    prints '15 games are the same'
done

# It was a stream that was asked for, and run.json keeps that.
python3 - "$T/stream-none/run.json" <<'END' || fail 'run.json does not tell of the stream'
import json, sys
assert json.load(open(sys.argv[1]))["config"]["stream"] is True
END
expect 0 "$G" probe --stream --json
json 'd["body"]["stream"] is True and d["body"]["stream_options"] == {"include_usage": True}'
json 'd["usable"] and d["calls"] and d["untrainable_reason"] is None'

# Streams behind a connection that breaks: as without.
expect 0 "$G" rollout --limit 5 -g 3 --effort none --stream -q -o "$T/faults" --faults examples/faults/thirty-percent.faults
expect 0 python3 tests/lib/same_games.py "$T/whole-none" "$T/faults" 0.1

# A field that an endpoint refuses is not sent.
expect 0 "$G" eval --limit 3 --drop-field top_p --drop-field seed -q -o "$T/dropped"
