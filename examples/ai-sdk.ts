/** Vercel AI SDK: any dialect as a tool set. In your project import from 'cerith' and 'cerith/tools'. */
import { generateText, stepCountIs, type LanguageModel } from 'ai'
import type { Engine } from '../src/index.js'
import { aiSdkTools, createTools } from '../src/tools/index.js'

export async function ask(model: LanguageModel, engine: Engine, prompt: string): Promise<string> {
  const tools = aiSdkTools(createTools(engine))
  const { text } = await generateText({ model, tools, prompt, stopWhen: stepCountIs(20) })
  return text
}
