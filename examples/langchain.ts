/** LangChain: the tools of any dialect, for `bindTools` or an agent. In your project import from 'cerith' and 'cerith/tools'. */
import { tool, type StructuredToolInterface } from '@langchain/core/tools'
import type { Engine } from '../src/index.js'
import { createTools, langchainTools } from '../src/tools/index.js'

export function shellTools(engine: Engine): StructuredToolInterface[] {
  return langchainTools(createTools(engine)).map(
    ({ run, fields }) => tool(run, fields) as unknown as StructuredToolInterface,
  )
}
