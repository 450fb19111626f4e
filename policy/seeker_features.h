/*
 * The features of the seeker's choices, and its weights: one array, the three tables one after the
 * other. docs/seeker.md says what each is; the start weights stand in seeker_choice.c.
 */
#ifndef GG_POLICY_SEEKER_FEATURES_H
#define GG_POLICY_SEEKER_FEATURES_H

/* What it sees of the state before it chooses a tool; all but LATE are scaled by 0.4. */
enum gg_seek_state {
    GG_SEEK_ONE,       /* always 1 */
    GG_SEEK_TURN,      /* replies so far / 10 */
    GG_SEEK_LATE,      /* 8 replies or more */
    GG_SEEK_NEW,       /* share of new documents in the last result */
    GG_SEEK_AGREED,    /* share of documents that several results hold */
    GG_SEEK_DONE,      /* how far the part of the question searched least has been searched */
    GG_SEEK_LEADS,     /* there are leads that no query held */
    GG_SEEK_DONE_OPEN, /* DONE x LEADS */
    GG_SEEK_STATES
};

/* A tool's score is the sum of its own weights x state; that of the first tool is 0. */
enum gg_seek_tool { GG_SEEK_LEXICAL, GG_SEEK_VECTOR, GG_SEEK_SUBMIT, GG_SEEK_TOOLS };

/* A word of a query, or its end. */
enum gg_word_feature {
    GG_WORD_RARE,      /* rarity */
    GG_WORD_FRAME,     /* of the question's frame: before its first colon */
    GG_WORD_FRESH,     /* of the question: how far its part has not been searched */
    GG_WORD_SPENT,     /* of the question, x how far all parts have been */
    GG_WORD_USED,      /* stood in an earlier query */
    GG_WORD_SAME,      /* of the part, or a lead, as the query's first word */
    GG_WORD_LEAD,      /* not in the question, but in the best documents of two results */
    GG_WORD_LEAD_DONE, /* LEAD x how far all parts have been searched */
    GG_WORD_READ,      /* not in the question, in the best document of the last result, no lead */
    GG_WORD_READ_RARE, /* READ x rarity */
    GG_WORD_END,       /* the query's end: 1 */
    GG_WORD_END_COUNT, /* x words so far / 8 */
    GG_WORD_END_COVER, /* x share of the first word's part that the query holds, by rarity */
    GG_WORD_END_LEAD,  /* x 1 when the query began with a lead */
    GG_WORD_END_LEADS, /* x words so far / 8 when the query began with a lead */
    GG_WORD_FEATURES
};

/* A document to submit next. */
enum gg_document_feature {
    GG_DOC_RANK,        /* 1 / best rank in a lexical result for the question */
    GG_DOC_RANK_VECTOR, /* likewise of vector results */
    GG_DOC_RANK_LEAD,   /* likewise of results for leads */
    GG_DOC_FUSED,       /* mean of 60 / (60 + rank) over the results, 0 where it is missing */
    GG_DOC_BEST,        /* first in a result for the question */
    GG_DOC_COVER,       /* largest share of a part of the question, by rarity, that it shows */
    GG_DOC_COVER_FRESH, /* the same of parts that no submitted document shows best */
    GG_DOC_NAMED,       /* its title stands in one of the best documents of results */
    GG_DOC_NAMED_TWICE, /* its title stands in several of them */
    GG_DOC_NAMED_RANK,  /* NAMED_TWICE x RANK_LEAD */
    GG_DOC_NAMED_FIRST, /* NAMED_TWICE, as the first to submit */
    GG_DOC_TITLE_ASKED, /* share of its title's words that stand in the question */
    GG_DOC_FEATURES
};

#define GG_SEEK_WORDS_AT (2 * GG_SEEK_STATES) /* of weights: the vector's and the submission's */
#define GG_SEEK_DOCS_AT  (GG_SEEK_WORDS_AT + GG_WORD_FEATURES)
#define GG_SEEK_WEIGHTS  (GG_SEEK_DOCS_AT + GG_DOC_FEATURES)

#endif
