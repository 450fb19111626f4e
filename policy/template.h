/*
 * The chat template of the embedded policies: messages to token ids, and reply ids back to a reply.
 *
 *   prompt  = <|low|> [(<|tools|> name [<|arguments|> schema])... <|end|>] message ...
 * <|assistant|> message = <|system|> text <|end|>      also of role developer | <|user|> text
 * <|end|> | <|tool|> text <|end|> | <|assistant|> reply <|end|> reply   = [<|think|> text
 * <|/think|>] [text] [<|call|> name <|arguments|> text] ...
 *
 * A history whose assistant messages come back as they were given (arguments verbatim, thoughts in
 * `reasoning` or `reasoning_content`) yields a prompt that begins with the earlier prompt and reply
 * ids: a whole game is one sequence.
 */
#ifndef GG_POLICY_TEMPLATE_H
#define GG_POLICY_TEMPLATE_H

#include "policy/policy.h"
#include "policy/tokenizer.h"

#define GG_TEMPLATE_TOKENS_MAX (1u << 22) /* longer prompts are refused */

/* Appends the prompt of messages and tools (bytes NULL = none) as they stand in a request; with
 * `schemas` the JSON Schema of each tool that has one, as it stands, follows its name. Wrong
 * roles and contents are GG_E_ARGUMENT and named. */
gg_status gg_template_prompt(const gg_tokenizer *tokenizer, gg_json_name messages,
                             gg_json_name tools, bool schemas, gg_effort effort, gg_ids *out,
                             gg_error *error);

/* Fills reasoning, content, call, reasoning_tokens from reply->ids, and turns finish_reason "stop"
 * into "tool_calls" where there is a call. A call that was cut short is left out: one whose
 * arguments nothing follows and that do not end with '}'. Of several calls the first counts. */
gg_status gg_template_parse(const gg_tokenizer *tokenizer, gg_policy_reply *reply, gg_error *error);

#endif
