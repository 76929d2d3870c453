/** Anthropic SDK: the typed tool `bash_20250124`, run by the SDK's own tool runner. In your project import from 'cerith' and 'cerith/tools'. */
import type Anthropic from '@anthropic-ai/sdk'
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool'
import type { Engine } from '../src/index.js'
import { anthropicTools, createTools } from '../src/tools/index.js'

export async function ask(
  client: Anthropic,
  engine: Engine,
  prompt: string,
  dialect: 'anthropic' | 'house' = 'anthropic',
): Promise<string> {
  const tools = anthropicTools<BetaRunnableTool>(createTools(engine, { dialect }))
  const message = await client.beta.messages.toolRunner({
    model: 'claude-opus-5',
    max_tokens: 4_096,
    messages: [{ role: 'user', content: prompt }],
    tools,
  })
  return message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}
