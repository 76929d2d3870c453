// A model that always wants the same things: speaks just enough of three vendors' APIs for a host to call our tools and
// hand back the results.
import { createServer } from 'node:http'

/**
 * Starts it on loopback; `seen[i]` is what came back for scene i. `findTool` picks the tool to call from the request's
 * list, as { name, namespace?, args } with the arguments of a scene.
 */
export async function startModel(vendor, { scenes, findTool }) {
  const seen = []
  const requests = []
  const speak = { anthropic, openai, gemini }[vendor]
  const http = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    request.on('end', () => {
      const body = text.startsWith('{') ? JSON.parse(text) : {}
      requests.push({ method: request.method, url: request.url, body })
      try {
        speak({ request, response, body, seen, scenes, findTool })
      } catch (error) {
        response.writeHead(500).end(String(error))
      }
    })
  })
  await new Promise((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${http.address().port}`,
    seen,
    requests,
    close: () => http.closeAllConnections() ?? http.close(),
  }
}

/** Notes the results so far and gives the scene that is next, or null when all were played. */
function nextScene(results, { seen, scenes }) {
  results.forEach((result, at) => (seen[at] = typeof result === 'string' ? result : JSON.stringify(result)))
  return scenes[results.length] ?? null
}

function stream(response, events, named) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events)
    response.write(`${named ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  response.end()
}

function json(response, value, status = 200) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

const WAITS = 'toolu_wait_'

function anthropic({ request, response, body, findTool, ...play }) {
  if (!request.url.startsWith('/v1/messages'))
    return json(response, { error: { type: 'not_found_error', message: 'no' } }, 404)
  if (request.url.includes('count_tokens')) return json(response, { input_tokens: 10 })
  const tool = findTool(body.tools ?? [])
  const results = (body.messages ?? [])
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter(({ type, tool_use_id: id }) => type === 'tool_result' && !id?.startsWith(WAITS))
    .map(({ content, is_error }) => ({ content, is_error }))
  const scene = tool ? nextScene(results, play) : null
  // A busy host asks before its servers have answered, and offers a tool to wait for them.
  const wait = tool ? null : (body.tools ?? []).find(({ name }) => name === 'WaitForMcpServers')
  const waited = JSON.stringify(body.messages ?? []).split(WAITS).length
  const call = scene
    ? { id: `toolu_${results.length}`, name: tool.name, input: tool.args(scene) }
    : wait && waited < 20
      ? { id: `${WAITS}${waited}`, name: wait.name, input: {} }
      : null
  const block = call ? { type: 'tool_use', ...call, input: {} } : { type: 'text', text: '' }
  const delta = call
    ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
    : { type: 'text_delta', text: 'done' }
  const message = {
    id: `msg_${Date.now()}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const stop = call ? 'tool_use' : 'end_turn'
  if (!body.stream)
    return json(response, {
      ...message,
      content: [call ? { ...block, input: call.input } : { type: 'text', text: 'done' }],
      stop_reason: stop,
    })
  stream(
    response,
    [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
    true,
  )
}

function openai({ request, response, body, findTool, ...play }) {
  if (!request.url.endsWith('/responses')) return json(response, { object: 'list', data: [], models: [] })
  const results = (body.input ?? []).filter(({ type }) => type === 'function_call_output').map(({ output }) => output)
  const scene = nextScene(results, play)
  const tool = findTool(body.tools ?? [])
  const item =
    scene && tool
      ? {
          type: 'function_call',
          id: `fc_${results.length}`,
          call_id: `call_${results.length}`,
          name: tool.name,
          ...(tool.namespace ? { namespace: tool.namespace } : {}),
          arguments: JSON.stringify(tool.args(scene)),
          status: 'completed',
        }
      : {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'done', annotations: [] }],
        }
  const answer = {
    id: `resp_${results.length}`,
    object: 'response',
    status: 'completed',
    output: [item],
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }
  stream(
    response,
    [
      { type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: answer },
    ],
    true,
  )
}

function gemini({ request, response, body, findTool, ...play }) {
  const parts = (body.contents ?? []).flatMap(({ parts }) => parts ?? [])
  const results = parts
    .filter(({ functionResponse }) => functionResponse)
    .map(({ functionResponse }) => functionResponse.response)
  const tool = findTool((body.tools ?? []).flatMap(({ functionDeclarations }) => functionDeclarations ?? []))
  const scene = tool ? nextScene(results, play) : null
  const part = scene
    ? { functionCall: { id: `call_${results.length}`, name: tool.name, args: tool.args(scene) } }
    : { text: body.generationConfig?.responseMimeType === 'application/json' ? '{}' : 'done' }
  const answer = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }
  if (request.url.includes('countTokens')) return json(response, { totalTokens: 1 })
  if (request.url.includes('stream')) return stream(response, [answer], false)
  json(response, answer)
}
