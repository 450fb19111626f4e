"""Games at the level of token ids: prompts written and replies read by docs/letters.md alone."""

ASSISTANT, TOOL, END = 262, 263, 268
PROMPT = [256, 259, 269, 268]  # low effort, guess_word on offer
OPEN, CLOSE, MARKS, ITEMS = 270, 271, 353, 7
GREEN, YELLOW, GREY = 1, 2, 3
GUESSES = 6


def marks(guess, hidden):
    """Greens first, then yellows from the left while copies remain."""
    out = [GREEN if g == h else GREY for g, h in zip(guess, hidden)]
    rest = [h for h, m in zip(hidden, out) if m != GREEN]
    for i, g in enumerate(guess):
        if out[i] == GREY and g in rest:
            out[i] = YELLOW
            rest.remove(g)
    return out


def told(guess, hidden):
    """A tool message with one row of marks."""
    row = [MARKS + ITEMS * (ord(c) - 97) + m for c, m in zip(guess, marks(guess, hidden))]
    return [TOOL, *row, END]


def guessed(reply):
    """The word between the opening and the closing of a call's arguments."""
    start = reply.index(OPEN) + 1
    return "".join(map(chr, reply[start : reply.index(CLOSE)]))


def play(hidden, sample):
    """Plays one game; `sample(ids)` gives (tokens, logprobs). Returns ids, logprobs by id (None = given), greens of
    the last guess as a share."""
    ids, logprobs, greens = list(PROMPT), [None] * len(PROMPT), 0.0
    for _ in range(GUESSES):
        ids.append(ASSISTANT)
        logprobs.append(None)
        tokens, scores = sample(ids)
        assert tokens[-1] == END and len(tokens) == len(scores)
        ids += tokens
        logprobs += scores
        guess = guessed(tokens)
        greens = marks(guess, hidden).count(GREEN) / len(hidden)
        if guess == hidden:
            break
        result = told(guess, hidden)
        ids += result
        logprobs += [None] * len(result)
    return ids, logprobs, greens


def datum(ids, logprobs, advantage):
    """The training sequence up to the last sampled token, shifted by one, as the API wants it."""
    end = max(i for i, p in enumerate(logprobs) if p is not None) + 1
    sampled = [p is not None for p in logprobs[1:end]]

    def tensor(values, dtype):
        return {"data": values, "dtype": dtype, "shape": [len(values)]}

    return {
        "modelInput": {"chunks": [{"tokens": ids[: end - 1], "type": "encoded_text"}]},
        "lossFnInputs": {
            "target_tokens": tensor(ids[1:end], "int64"),
            "weights": tensor([float(s) for s in sampled], "float32"),
            "logprobs": tensor([p if s else 0.0 for p, s in zip(logprobs[1:end], sampled)], "float32"),
            "advantages": tensor([advantage if s else 0.0 for s in sampled], "float32"),
        },
    }


def groups(hidden_words, plays, sample):
    """Plays `plays` games a word; datums with advantages (r - mean) / population std, groups without spread left out."""
    out = []
    for hidden in hidden_words:
        games = [play(hidden, sample) for _ in range(plays)]
        rewards = [greens for _, _, greens in games]
        if max(rewards) == min(rewards):
            continue
        mean = sum(rewards) / plays
        std = (sum((r - mean) ** 2 for r in rewards) / plays) ** 0.5
        out += [datum(ids, logprobs, (r - mean) / std) for (ids, logprobs, r) in games]
    return out
