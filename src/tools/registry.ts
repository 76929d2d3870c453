/** Holds tools by name, for hosts that keep their own collection. */
import type { Engine } from '../contract/engine.js'
import { createTools } from './create-tools.js'
import { formatTool, type Format, type FormattedTool } from './formats.js'
import type { ToolOptions } from './options.js'
import type { Tool } from './tool.js'

export class ToolRegistry {
  readonly #tools = new Map<string, Tool>()

  /** Throws when the name is taken: two tools of one name could not both be called. */
  register(tool: Tool): void {
    if (this.#tools.has(tool.name)) throw new TypeError(`A tool named ${tool.name} is already registered.`)
    this.#tools.set(tool.name, tool)
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name)
  }

  list(category?: Tool['category']): readonly Tool[] {
    return [...this.#tools.values()].filter((tool) => category === undefined || tool.category === category)
  }

  count(): number {
    return this.#tools.size
  }

  getAllSchemas<F extends Format>(format: F): FormattedTool<F>[] {
    return this.list().map((tool) => formatTool(tool, format))
  }
}

/** Registers the tools of one dialect, bound to the engine. */
export function registerExecutionTools(
  registry: Pick<ToolRegistry, 'register'>,
  engine: Engine,
  options: ToolOptions = {},
): readonly Tool[] {
  const tools = createTools(engine, options).list()
  for (const tool of tools) registry.register(tool)
  return tools
}
