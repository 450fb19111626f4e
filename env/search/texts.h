/*
 * Every piece of text that the search game writes. The policies read pages by these pieces too, and
 * a tokenizer may know them as phrases: what varies stands between pieces, never inside.
 */
#ifndef GG_ENV_SEARCH_TEXTS_H
#define GG_ENV_SEARCH_TEXTS_H

#define S_TOOL_WORDS   "bm25_search"
#define S_TOOL_VECTORS "vector_search"
#define S_TOOL_SUBMIT  "submit_ranking"
#define S_QUERY        "query"
#define S_K            "k"
#define S_IDS          "document_ids"

#define S_RANKED_MAX 10 /* documents of a ranking */

/* The tools, as JSON: OPEN k-limit WORDS k-limit VECTORS. */
#define S_SEARCH_TOOL(name, says)                                                                  \
    "{\"type\":\"function\",\"function\":{\"name\":\"" name "\",\"description\":\"" says           \
    "\",\"parameters\":{\"type\":\"object\",\"properties\":{\"" S_QUERY                            \
    "\":{\"type\":\"string\",\"description\":\"What to look for.\"},\"" S_K                        \
    "\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":20,\"description\":\"How many documents "  \
    "to show.\"}},\"required\":[\"" S_QUERY "\"]}}}"
#define S_TOOLS                                                                                                   \
    "[" S_SEARCH_TOOL(S_TOOL_WORDS, "Finds documents that share words with the query (BM25).") "," S_SEARCH_TOOL( \
        S_TOOL_VECTORS,                                                                                           \
        "Finds documents whose text vector is near the query's.") ","                                             \
                                                                  "{\"type\":\"function\","                       \
                                                                  "\"function\":{\"name\":"                       \
                                                                  "\"" S_TOOL_SUBMIT                              \
                                                                  "\",\"description\":\"Ends the "                \
                                                                  "search with a ranking of the "                 \
                                                                  "documents found, best "                        \
                                                                  "first.\","                                     \
                                                                  "\"parameters\":{\"type\":"                     \
                                                                  "\"object\",\"properties\":{"                   \
                                                                  "\"" S_IDS                                      \
                                                                  "\":{\"type\":\"array\","                       \
                                                                  "\"items\":{\"type\":"                          \
                                                                  "\"string\"},\"minItems\":1,"                   \
                                                                  "\"maxItems\":10,"                              \
                                                                  "\"description\":\"Ids, as the "                \
                                                                  "searches show "                                \
                                                                  "them.\"}},\"required\":["                      \
                                                                  "\"" S_IDS "\"]}}}]"

#define S_SYSTEM_ROLE                                                                              \
    "You search a collection of documents. Find those that answer the question, and rank "         \
    "them.\n\nRules:\n- " S_TOOL_WORDS " and " S_TOOL_VECTORS                                      \
    " show documents, one a line: id | title | snippet.\n- End with " S_TOOL_SUBMIT                \
    ": at most 10 ids, best first. Documents are graded; the ranking is scored by nDCG@10.\n- "    \
    "You have "
#define S_SYSTEM_TURNS " replies and "
#define S_SYSTEM_CALLS " tool calls in all; without a ranking by then the score is 0.\n"
#define S_OPENING      "Question: "

/* A page of results. */
#define S_FOUND_ONE  "1 document:\n"
#define S_FOUND_MANY " documents:\n" /* after their number */
#define S_FOUND_NONE "No document found.\n"
#define S_COLUMN     " | "
#define S_REPEAT     "You have asked this before.\n"

/* After a ranking. */
#define S_RANKED "Ranking received; the search is over."
#define S_OVER   "The search is over."

/* What is wrong with a call. */
#define S_NO_TOOL                                                                                  \
    "There is no such tool; there are " S_TOOL_WORDS ", " S_TOOL_VECTORS " and " S_TOOL_SUBMIT "."
#define S_NO_QUERY                                                                                 \
    "The query is missing or empty: give the text argument `" S_QUERY "` with words to look for."
#define S_LONG_QUERY "The query is too long: at most "
#define S_LONG_UNIT  " bytes."
#define S_BAD_K      "`" S_K "` has to be a whole number from 1 to 20."
#define S_NO_IDS                                                                                   \
    "The ranking is missing or empty: give `" S_IDS "`, a list of 1 to 10 ids as the searches "    \
    "show them."
#define S_MANY_IDS "At most 10 ids can be ranked."
#define S_TWICE    "This id stands twice in the ranking: "
#define S_UNKNOWN  "There is no document with this id: "

#endif
