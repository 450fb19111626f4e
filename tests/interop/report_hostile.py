"""Puts hostile text wherever a model's or a dataset's text stands in the records of a run."""
import json
import sys

HOSTILE = ("</script><script>window.owned = 1</script><img src=x onerror=\"window.owned = 1\">"
           "<a href=\"javascript:window.owned = 1\">x</a> \u2028 <!-- ]]> '\" &lt;")
path = sys.argv[1]
lines = [json.loads(line) for line in open(path, encoding="utf-8")]
for number, episode in enumerate(lines):
    if number % 3 == 0:
        for turn in episode["turns"]:
            turn["reasoning"] = HOSTILE
            for call in turn["calls"]:
                call.update(name=HOSTILE, arguments_raw=HOSTILE, result=HOSTILE, repairs=["<b>kind</b>"], status="invalid")
        episode["labels"]["opening"] = HOSTILE
        episode["task"]["id"] = HOSTILE
with open(path, "w", encoding="utf-8") as out:
    for episode in lines:
        out.write(json.dumps(episode, separators=(",", ":")) + "\n")
