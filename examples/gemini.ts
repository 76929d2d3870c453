/** Gemini: function declarations and the loop that answers them. In your project import from 'cerith' and 'cerith/tools'. */
import type { Content, FunctionDeclaration, GoogleGenAI } from '@google/genai'
import type { Engine } from '../src/index.js'
import { answerGemini, createTools, geminiTools } from '../src/tools/index.js'

export async function ask(client: GoogleGenAI, engine: Engine, prompt: string): Promise<string> {
  const tools = createTools(engine, { dialect: 'gemini' })
  const config = { tools: [geminiTools<FunctionDeclaration>(tools)] }
  const contents: Content[] = [{ role: 'user', parts: [{ text: prompt }] }]
  for (;;) {
    const response = await client.models.generateContent({ model: 'gemini-2.5-flash', contents, config })
    const answers = await answerGemini(response.functionCalls ?? [], tools)
    if (answers.length === 0) return response.text ?? ''
    contents.push(response.candidates![0]!.content!, { role: 'user', parts: answers })
  }
}
