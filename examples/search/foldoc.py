#!/usr/bin/env python3
"""Builds a search data set in BEIR's layout from the Free On-line Dictionary of Computing.

The dictionary is Debian's package dict-foldoc (GNU Free Documentation License): nothing is downloaded here and
nothing of it is part of this project. The same package gives the same bytes.

Two kinds of questions:
  single  an article's defining sentence without its headword; that article is graded 2, articles that it links to
          and that link back are graded 1
  two     what is linked from both of two articles that are described, not named; what both link to is graded 2, the
          two described articles 1
No article is judged in two splits.
"""

import argparse
import gzip
import hashlib
import json
import os
import re

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
# What a full stop may follow without ending a sentence.
ABBREVIATION = re.compile(r"(?:\b[A-Za-z]|\b(?:e\.g|i\.e|ca|cf|vs|etc|Inc|Ltd|Co|Corp|Dr|Mr|Prof|St|No|pp|ed|al))$")
LEAST_WORDS, MOST_CHARACTERS = 7, 400
SHARE_TWO = 1 / 3  # of the questions
MOST_SHARED = 3  # articles that both link to: more make the question vague
MOST_LINKED = 40  # articles that link to an answer: more make it a commonplace, such as Unix


def number(text):
    value = 0
    for c in text:
        value = value * 64 + ALPHABET.index(c)
    return value


def order(*parts):
    """A place in a shuffled order that depends on nothing but the parts."""
    return hashlib.sha256("|".join(map(str, parts)).encode()).hexdigest()


class Article:
    def __init__(self, titles, body):
        self.titles, self.body = titles, body
        self.title = titles[0]
        self.links = set()
        self.backlinks = set()


def read_articles(folder):
    with open(os.path.join(folder, "foldoc.index"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    with gzip.open(os.path.join(folder, "foldoc.dict.dz")) as f:
        data = f.read()
    places = {}
    for headword, offset, length in rows:
        if not headword.startswith("00-database"):
            places.setdefault((number(offset), number(length)), []).append(headword)
    articles, by_name = [], {}
    for (offset, length), headwords in sorted(places.items()):
        head, _, body = data[offset : offset + length].decode("utf-8", "replace").partition("\n\n")
        titles = [line.strip() for line in head.split("\n") if line.strip()]
        body = re.sub(r"\n\s*\(\d{4}-\d\d-\d\d\)\s*$", "", body.rstrip())
        if not titles or not body.strip():
            continue
        article = Article(titles, body)
        articles.append(article)
        for name in titles + headwords:
            by_name.setdefault(name.lower(), article)
    return articles, by_name


def plain(text):
    text = re.sub(r"\{\((\w+:[^)]*)\)\}", r"\1", text)
    return re.sub(r"\s+", " ", text.replace("{", "").replace("}", "")).strip()


def find_links(articles, by_name):
    for a in articles:
        for name in re.findall(r"\{([^{}]+)\}", a.body):
            target = by_name.get(re.sub(r"\s+", " ", name).lower())
            if target and target is not a:
                a.links.add(target)
                target.backlinks.add(a)


def description(article):
    """The defining sentence, with the headwords taken out; None where there is none to speak of."""
    body = re.sub(r"^\s*(?:\d+\.\s*)?(?:<[^<>]*>)?\s*", "", article.body)
    body = re.sub(r'^\(Or [^)]*\)\s*|^/[^/\n]+/\s*', "", body)
    first = plain(body.split("\n\n")[0])
    if first.startswith("["):  # a reference, no definition
        return None
    first = re.sub(r"^\([^()]*\)\s*", "", first)
    ends = (m.start() for m in re.finditer(r"[.;](?=\s+[A-Z\"(]|$)", first) if not ABBREVIATION.search(first[: m.start()]))
    sentence = first[: next(ends, len(first))]
    names = sorted({t for t in article.titles} | {w for t in article.titles for w in re.findall(r"\w{3,}", t)}, key=len)
    for name in reversed(names):
        sentence = re.sub(r"(?<!\w)" + re.escape(name) + r"(?:'s|s|es)?(?!\w)", "", sentence, flags=re.IGNORECASE)
    sentence = re.sub(r"\s+([,.;])", r"\1", re.sub(r"\s+", " ", re.sub(r"\(\s*\)|\"\s*\"", "", sentence)))
    sentence = sentence.strip(" ,;:-.")
    if len(re.findall(r"\w+", sentence)) < LEAST_WORDS or len(sentence) > MOST_CHARACTERS:
        return None
    return sentence[0].lower() + sentence[1:] if sentence[1:2].islower() else sentence


def single_questions(articles, texts):
    for a in articles:
        if texts[a]:
            both = {b for b in a.links if a in b.links}
            yield {"kind": "single", "text": f"Which computing term is defined like this: {texts[a]}?",
                   "grades": {a: 2, **{b: 1 for b in both}}}


def two_questions(articles, texts):
    """Pairs that share few links: for each article the partner that the hash puts first."""
    for a in articles:
        if not texts[a]:
            continue
        partners = {}
        for shared in a.links:
            if len(shared.backlinks) <= MOST_LINKED:
                for b in shared.backlinks:
                    if b is not a and texts[b] and b not in a.links and a not in b.links:
                        partners.setdefault(b, set()).add(shared)
        fit = [b for b, shared in partners.items() if len(a.links & b.links) <= MOST_SHARED]
        if not fit:
            continue
        b = min(fit, key=lambda x: order("pair", a.title, x.title))
        answers = a.links & b.links
        if b in answers or a in answers:
            continue
        yield {"kind": "two", "text": "What do the articles about both of these refer to? "
                                          f"First: {texts[a]}. Second: {texts[b]}.",
               "grades": {**{c: 2 for c in answers}, a: 1, b: 1}}


def draw(candidates, splits):
    """Fills the splits in turn; an article, once used, belongs to its split."""
    owner, drawn = {}, {name: [] for name in splits}
    pools = {kind: sorted((c for c in candidates if c["kind"] == kind), key=lambda c: order("draw", c["text"]))
             for kind in ("single", "two")}
    for name, count in splits.items():
        two = round(count * SHARE_TWO)
        for kind, wanted in (("two", two), ("single", count - two)):
            got, rest = 0, []
            for c in pools[kind]:
                free = all(owner.get(a) is None for a in c["grades"])
                if got < wanted and free:
                    for a in c["grades"]:
                        owner[a] = name
                    drawn[name].append(c)
                    got += 1
                elif free:
                    rest.append(c)
            if got < wanted:
                raise SystemExit(f"foldoc.py: only {got} of {wanted} {kind} questions for {name}")
            pools[kind] = rest
    return drawn


def write(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as f:
        f.writelines(line + "\n" for line in lines)


def as_json(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main():
    p = argparse.ArgumentParser(description="Builds a BEIR-layout data set from Debian's dict-foldoc.")
    p.add_argument("output", help="folder to write")
    p.add_argument("--from", dest="folder", default="/usr/share/dictd", help="where foldoc.index and foldoc.dict.dz lie")
    p.add_argument("--train", type=int, default=1425, help="training questions (1425)")
    p.add_argument("--val", type=int, default=75, help="validation questions (75: 5 %% of 1500)")
    p.add_argument("--test", type=int, default=300, help="test questions (300)")
    p.add_argument("--articles", type=int, help="only the first N articles, for quick tries")
    a = p.parse_args()
    if not os.path.exists(os.path.join(a.folder, "foldoc.index")):
        raise SystemExit("foldoc.py: there is no dictionary; install it: apt-get install dict-foldoc")
    articles, by_name = read_articles(a.folder)
    if a.articles:
        articles = articles[: a.articles]
        known = set(articles)
        by_name = {name: x for name, x in by_name.items() if x in known}
    find_links(articles, by_name)
    ids = {x: f"d{i:05}" for i, x in enumerate(articles)}
    texts = {x: description(x) for x in articles}
    # Two articles of one description would make a question with two answers of which one is judged.
    seen = {}
    for x in articles:
        seen.setdefault(texts[x], []).append(x)
    for text, same in seen.items():
        if len(same) > 1:
            texts.update({x: None for x in same})
    drawn = draw([*single_questions(articles, texts), *two_questions(articles, texts)],
                 {"test": a.test, "dev": a.val, "train": a.train})
    write(os.path.join(a.output, "corpus.jsonl"),
          (as_json({"_id": ids[x], "title": ", ".join(x.titles), "text": plain(x.body)}) for x in articles))
    queries, qrels = [], {}
    for name, questions in drawn.items():
        rows = qrels[name] = ["query-id\tcorpus-id\tscore"]
        for i, q in enumerate(questions):
            qid = f"{name}-{i:04}"
            queries.append(as_json({"_id": qid, "text": q["text"], "metadata": {"kind": q["kind"]}}))
            rows += [f"{qid}\t{d}\t{grade}" for d, grade in sorted((ids[x], g) for x, g in q["grades"].items())]
    write(os.path.join(a.output, "queries.jsonl"), queries)
    for name, rows in qrels.items():
        write(os.path.join(a.output, "qrels", name + ".tsv"), rows)
    links = sum(len(x.links) for x in articles)
    print(f"{a.output}: {len(articles)} articles, {links} links, " +
          ", ".join(f"{len(q)} {name}" for name, q in drawn.items()))


if __name__ == "__main__":
    main()
