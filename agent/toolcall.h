/*
 * From a reply to the tool calls in it: a ladder of fixed repairs, each one with a name and
 * counted.
 *
 *   1. a structured call, name exact, arguments a JSON object: no repair;
 *   2. the name by fixed rules: white space trimmed, cut at the first "<|", one known prefix
 *      dropped; taken only when the result is exactly a known tool. Nothing fuzzy;
 *   3. the arguments by fixed rules: nothing or null -> {}; an object instead of its text; text
 *      encoded twice; objects glued together, which are as many calls;
 *   4. no structured call, but the whole text, a leading block of thoughts aside, is one known
 *      wrapper around calls of known tools;
 *   5. what is still wrong is a fault: the call is answered with a text that says so, not run.
 *
 * A call inside thoughts or in the middle of prose is never run. What the model wrote stays
 * untouched beside what became of it.
 *
 * Threads: a gg_tools is immutable and may be shared; a gg_found belongs to one thread.
 */
#ifndef GG_AGENT_TOOLCALL_H
#define GG_AGENT_TOOLCALL_H

#include "agent/chat.h"

#define GG_CALL_ID_MAX   1024 /* a longer id is replaced */
#define GG_CALL_NAME_MAX 64   /* longest function name that endpoints take in a history */

/* Kinds of repair, as counted in records and summaries. The last three tell of a call that could
 * not be repaired and of what stands in the history in its place. */
typedef enum gg_repair {
    GG_REPAIR_NAME_SPACE,    /* name_space: white space around the name */
    GG_REPAIR_NAME_MARKER,   /* name_marker: "f<|channel|>commentary" */
    GG_REPAIR_NAME_PREFIX,   /* name_prefix: "functions.f" */
    GG_REPAIR_ARGS_EMPTY,    /* args_empty: missing, null or "" */
    GG_REPAIR_ARGS_OBJECT,   /* args_object: an object instead of its text */
    GG_REPAIR_ARGS_TWICE,    /* args_twice: encoded twice */
    GG_REPAIR_ARGS_GLUED,    /* args_glued: "{...}{...}" */
    GG_REPAIR_ID_MADE,       /* id_made: the endpoint gave none */
    GG_REPAIR_ID_REPEATED,   /* id_repeated: used before in this episode */
    GG_REPAIR_LEGACY,        /* legacy: came as function_call */
    GG_REPAIR_DROPPED,       /* dropped: more than GG_CALLS_MAX calls; the rest was left out */
    GG_REPAIR_THOUGHTS,      /* thoughts_in_text: thoughts before the call, in the content */
    GG_REPAIR_TEXT_TAG,      /* text_tag: <tool_call>{...}</tool_call> */
    GG_REPAIR_TEXT_FUNCTION, /* text_function: <function=f><parameter=a>... */
    GG_REPAIR_TEXT_FENCE,    /* text_fence: ```json */
    GG_REPAIR_TEXT_PYTHON,   /* text_python: <|python_tag|>{...} */
    GG_REPAIR_TEXT_PYTHONIC, /* text_pythonic: [f(a=1)] */
    GG_REPAIR_TEXT_BRACKET,  /* text_bracket: [TOOL_CALLS]... */
    GG_REPAIR_TEXT_HARMONY,  /* text_harmony: commentary to=functions.f json{...} */
    GG_REPAIR_TEXT_SECTION,  /* text_section: <|tool_call_begin|>functions.f:0... */
    GG_REPAIR_TEXT_OBJECT,   /* text_object: a bare {"name", "arguments"} */
    GG_REPAIR_TEXT_MOVE,     /* text_move: prose that the environment took as a move */
    GG_REPAIR_ARGS_BROKEN,   /* args_broken: not an object; {} in the history */
    GG_REPAIR_NAME_UNKNOWN,  /* name_unknown: no such tool */
    GG_REPAIR_CUT,           /* cut: in a reply that the token limit cut */
    GG_REPAIR_COUNT
} gg_repair;
#define GG_REPAIR_BIT(repair) (UINT32_C(1) << (repair))
/* "name_space" ...; static storage. */
const char *gg_repair_name(gg_repair repair);

/* The tools of an environment. */
typedef struct gg_tools gg_tools;
gg_status gg_tools_make(const char *json, gg_tools **out, gg_error *error);
void gg_tools_free(gg_tools *tools);
size_t gg_tools_count(const gg_tools *tools);
const char *gg_tools_name(const gg_tools *tools, size_t index);
/* Appends "a, b". */
void gg_tools_list(const gg_tools *tools, gg_buf *out);
/* The tool's own name where `name` is exactly one, else NULL. */
const char *gg_tools_find(const gg_tools *tools, const char *name, size_t len);
/* Whether the tool declares this parameter as something else than text. */
bool gg_tools_is_text(const gg_tools *tools, const char *tool, const char *parameter, size_t len);

typedef enum gg_fault {
    GG_FAULT_NONE = 0,
    GG_FAULT_UNKNOWN_TOOL,
    GG_FAULT_BAD_ARGUMENTS,
    GG_FAULT_CUT
} gg_fault;

/* One call to answer. */
typedef struct gg_found_call {
    const char *id;        /* in the history; "" for a call found in text */
    const char *name;      /* in the history: the tool's own name unless the tool is unknown */
    const char *raw_name;  /* as the model wrote it */
    const char *arguments; /* in the history and to run: the text of a JSON object */
    const char *raw;       /* as the model wrote it */
    uint32_t repairs;      /* one bit a gg_repair */
    gg_fault fault;
} gg_found_call;

/* What is in a reply. Reused; strings live until the next look, or as long as the reply. */
typedef struct gg_found {
    gg_found_call *calls;
    size_t count, room;
    bool from_text; /* the calls were found in the content: answered by a user message */
    const char
        *text; /* content without thoughts and markers, for the environment; not terminated */
    size_t text_len;
    bool thoughts; /* thoughts were taken off before `text` */
    gg_status status;
    gg_pool pool;
} gg_found;

void gg_found_init(gg_found *found);
void gg_found_free(gg_found *found);

/* Whether an id was used earlier in the conversation. */
typedef bool (*gg_id_used)(void *context, const char *id);
/* Ids that are made come from `seed` (of the episode) and `serial` (calls made so far). */
typedef struct gg_ids {
    gg_id_used used;
    void *context;
    uint64_t seed;
    int64_t serial;
} gg_ids;

/* Climbs the ladder. Only GG_E_MEMORY fails. */
gg_status gg_find_calls(gg_found *found, const gg_reply *reply, const gg_tools *tools,
                        const gg_ids *ids, bool text_calls, gg_error *error);
/* Appends the text that answers a call with a fault. */
void gg_fault_text(const gg_found_call *call, const gg_tools *tools, gg_buf *out);

/* Nine letters and digits: the one form of id that every endpoint takes. */
#define GG_MADE_ID 10
void gg_make_id(uint64_t seed, int64_t serial, char out[GG_MADE_ID]);

/* The content without a leading block of thoughts (closed, or opened before the reply began) and
 * without the markers around a final answer. Returns whether there were thoughts. */
bool gg_skip_thoughts(const char *text, size_t len, const char **rest, size_t *rest_len);

/* Rung 4, in agent/textcall.c: calls of the wrapper that the whole of `text` is, appended to
 * `found`; nothing when it is none. */
void gg_find_text_calls(gg_found *found, const char *text, size_t len, const gg_tools *tools);
/* Rungs 2 and 3 for one call; appends it (or several, when glued). Strings must live as long as
 * `found`. Used by rung 4 too. */
void gg_found_add(gg_found *found, const gg_reply_call *given, const gg_tools *tools,
                  uint32_t repairs);

#endif
