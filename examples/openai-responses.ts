/** OpenAI Responses API: the built-in `shell` tool, executed here. In your project import from 'cerith' and 'cerith/tools'. */
import type OpenAI from 'openai'
import type { Engine } from '../src/index.js'
import { answerResponse, createTools } from '../src/tools/index.js'

export async function ask(client: OpenAI, engine: Engine, prompt: string): Promise<string> {
  const tools = createTools(engine, { dialect: 'openai-shell' })
  const request = { model: 'gpt-5', tools: tools.schemas('openai-responses') }
  let response = await client.responses.create({ ...request, input: prompt })
  for (;;) {
    const answers = await answerResponse(response.output, tools)
    if (answers.length === 0) return response.output_text
    response = await client.responses.create({ ...request, previous_response_id: response.id, input: answers })
  }
}
