// What a user of the official Node client sees of an embedded policy.
import assert from 'node:assert/strict';
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'unused', maxRetries: 0 });
const parameters = { type: 'object', properties: { guess: { type: 'string' } }, required: ['guess'] };
const ask = {
  model: 'letters', seed: 11, reasoning_effort: 'low',
  tools: [{ type: 'function', function: { name: 'guess_word', parameters } }],
  messages: [{ role: 'system', content: 'You play.' }, { role: 'user', content: 'Guess the 5-letter word' }],
};

const models = await client.models.list();
assert.deepEqual(models.data.map((m) => m.id), ['letters']);

const whole = await client.chat.completions.create(ask);
assert.equal(whole.choices[0].finish_reason, 'tool_calls');
const call = whole.choices[0].message.tool_calls[0];
assert.match(JSON.parse(call.function.arguments).guess, /^[a-z]{5}$/);
assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens);

let text = '';
let last;
for await (const chunk of await client.chat.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } })) {
  text += chunk.choices[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? '';
  last = chunk;
}
assert.equal(text, call.function.arguments);
assert.equal(last.usage.total_tokens, whole.usage.total_tokens);

await assert.rejects(client.chat.completions.create({ ...ask, temperature: 3 }), OpenAI.BadRequestError);
await assert.rejects(client.chat.completions.create({ ...ask, model: 'gpt-9' }), OpenAI.NotFoundError);
console.log('ok Node client');
