// Real inference behind JSON lines: llama.node, which has the C++ of llama.rn, with one model.
//
//   node infer.mjs MODEL
//   {"messages": [..], "tools": [..], "more": {..}}  -> {"result": {..}}: getFormattedChat(), then completion() with the
//       prompt, what the template says of the answer's form, and `more`; with "own": true, completion() alone,
//       by the grammar that llama.rn makes of the tools
//   {"capabilities": true}                           -> {"capabilities": {..}}: what llama.rn reports of the template
//
// What goes wrong is {"error": text}.
import { createInterface } from 'node:readline'
import { loadModel } from '@fugood/llama.node'

const model = await loadModel({ model: process.argv[2], n_ctx: 8192, n_gpu_layers: 0, n_threads: 1 })

async function answer(question) {
  if (question.capabilities) {
    const { jinja } = model.getModelInfo().chatTemplates
    return { capabilities: jinja.toolUse ? jinja.toolUseCaps : jinja.defaultCaps }
  }
  const { messages, tools, more } = question
  if (question.own) {
    return { result: await model.completion({ messages, tools, jinja: true, tool_choice: 'required', ...more }) }
  }
  const f = await model.getFormattedChat(messages, undefined, { jinja: true, tools })
  const result = await model.completion({
    prompt: f.prompt,
    chat_format: f.chat_format,
    chat_parser: f.chat_parser,
    generation_prompt: f.generation_prompt,
    ...more,
  })
  return { result }
}

for await (const line of createInterface({ input: process.stdin })) {
  let reply
  try {
    reply = await answer(JSON.parse(line))
  } catch (error) {
    reply = { error: String(error?.message ?? error) }
  }
  process.stdout.write(JSON.stringify(reply) + '\n')
}
await model.release()
