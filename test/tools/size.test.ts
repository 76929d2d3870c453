import { expect, test } from 'vitest'
import { toolSchemas } from '../../src/tools/index.js'

test('the house tool list stays under 3 KB of JSON, with and without a yield (TOOL-01)', () => {
  for (const yieldMs of [undefined, 45_000]) {
    const tools = toolSchemas('house', 'mcp', { shell: 'GNU bash, version 5.2.15', ...(yieldMs ? { yieldMs } : {}) })
    const bytes = Buffer.byteLength(JSON.stringify(tools))
    console.log(bytes, Buffer.byteLength(JSON.stringify({ tools })))
    expect(bytes).toBeLessThan(3 * 1_024)
  }
})
