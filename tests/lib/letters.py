"""The token model of docs/letters.md once more, from that page alone: log-probabilities and gradients of ids."""

import json
import math

EFFORTS = {256: 1, 257: 4, 258: 16}
TOOLS, TOOL, THINK, THOUGHT, CALL, ARGUMENTS, END = 259, 263, 264, 265, 266, 267, 268
ASSISTANT = 262
NAME, OPEN, CLOSE = 269, 270, 271
FITS, MARKS, ITEMS = 274, 353, 7
FEATURES = 8
START = [2.4, -1.5, -1.5, 0.8, 0, 0.8, 0, 1]


class Board:
    def __init__(self, length):
        self.green = [None] * length
        self.wrong = [set() for _ in range(length)]
        self.least = [0] * 26
        self.most = [length] * 26
        self.tried = set()

    def learn(self, row):
        for i, (c, mark) in enumerate(row):
            self.tried.add(c)
            if mark == "green":
                self.green[i] = c
            else:
                self.wrong[i].add(c)
        for c in {c for c, _ in row}:
            copies = sum(1 for d, mark in row if d == c and mark != "grey")
            self.least[c] = max(self.least[c], copies)
            if (c, "grey") in row:
                self.most[c] = min(self.most[c], copies)

    def agrees(self, word):
        return (
            all(g is None or g == c for g, c in zip(self.green, word))
            and all(c not in w for w, c in zip(self.wrong, word))
            and all(self.least[c] <= word.count(c) <= self.most[c] for c in range(26))
        )


class Letters:
    def __init__(self, answers):
        self.length = len(answers[0])
        self.count = FEATURES + 26 * self.length
        self.below = {}
        for word in answers:
            for n in range(self.length + 1):
                self.below[word[:n]] = self.below.get(word[:n], 0) + 1
        holds = [sum(chr(97 + c) in word for word in answers) for c in range(26)]
        self.share = [n / max(holds) for n in holds]

    def base(self):
        return START + [0.0] * (self.count - FEATURES)

    def choice(self, board, draft, weights):
        """{letter: (p, {weight: feature})} of the letters that may follow `draft`."""
        i = len(draft)
        later = [board.green[i:].count(c) for c in range(26)]
        owed = [board.least[c] - draft.count(c) - later[c] for c in range(26)]
        due = sum(n for n in owed if n > 0)
        still_open = board.green[i:].count(None)
        text = "".join(chr(97 + c) for c in draft)
        out, total = {}, 0.0
        for c in range(26):
            words = self.below.get(text + chr(97 + c))
            if not words:
                continue
            green = board.green[i] == c
            x = {
                0: green,
                1: c in board.wrong[i],
                2: not green and draft.count(c) + later[c] + 1 > board.most[c],
                3: not green and owed[c] > 0,
                4: not green and owed[c] > 0 and due >= still_open,
                5: draft.count(c) > 0,
                6: 0 if c in board.tried else self.share[c],
                7: math.log(words),
                FEATURES + 26 * i + c: 1,
            }
            p = math.exp(sum(weights[k] * v for k, v in x.items()))
            out[c] = (p, x)
            total += p
        return {c: (p / total, x) for c, (p, x) in out.items()}

    def drawn(self, ids, weights):
        """Every drawn letter as (position in ids, its choice, letter); the reply's own grammar says which are drawn."""
        board, row, part, drafts, at = Board(self.length), [], None, 1, 0
        while at < len(ids):
            token = ids[at]
            if part == TOOL and not self.is_mark(token):
                if len(row) == self.length:
                    board.learn(row)
                row = []
            if token in EFFORTS:
                drafts = EFFORTS[token]
            elif token in (TOOLS, 260, 261, TOOL, END):
                part = token
            elif part == TOOL and self.is_mark(token):
                row.append(((token - MARKS) // ITEMS, ["green", "yellow", "grey"][(token - MARKS) % ITEMS - 1]))
            elif token == THINK or (token == OPEN and ids[at - 4] == ASSISTANT):
                for _ in range(drafts):
                    draft = []
                    while len(draft) < self.length and at + 1 < len(ids):
                        at += 1
                        letter = ids[at] - 97
                        yield at, self.choice(board, draft, weights), letter
                        draft.append(letter)
                    if token == OPEN or board.agrees(draft):
                        break
                    at += 2  # who and what
            at += 1

    @staticmethod
    def is_mark(token):
        return MARKS <= token < MARKS + 26 * ITEMS and 1 <= (token - MARKS) % ITEMS <= 3

    def logprobs(self, ids, weights):
        """Of every id; 0 where nothing was drawn."""
        out = [0.0] * len(ids)
        for at, choice, letter in self.drawn(ids, weights):
            out[at] = math.log(choice[letter][0])
        return out

    def gradient(self, ids, weights, upstream):
        """Sum over ids of upstream x d logprob / d weights."""
        out = [0.0] * self.count
        for at, choice, letter in self.drawn(ids, weights):
            for c, (p, x) in choice.items():
                for k, v in x.items():
                    out[k] += upstream[at] * ((c == letter) - p) * v
        return out


def effective(model, adapter):
    """Weights of an adapter.json's contents; None = base."""
    if adapter is None:
        return model.base()
    scale = 12 * adapter["alpha"] / adapter["rank"]
    return [b + scale * a for b, a in zip(model.base(), adapter["adapter"], strict=True)]


def sequences(lines):
    """(ids, logprobs by id with None where not sampled) of tokens.jsonl lines that are one sequence each."""
    for line in lines:
        ids, logprobs = [], []
        for turn in json.loads(line)["turns"]:
            if turn["prompt_ids_from"] != len(ids):
                break
            ids += turn["prompt_ids"] + turn["ids"]
            logprobs += [None] * len(turn["prompt_ids"]) + turn["logprobs"]
        else:
            yield ids, logprobs
