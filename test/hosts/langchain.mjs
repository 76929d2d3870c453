// LangChain's adapters against our server: every fact is in what a tool returns, or in the error it throws.
//   node langchain.mjs CACHE SERVER...
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SCENES, YIELD_MS } from './scenes.mjs'

const [cache, ...server] = process.argv.slice(2)
const require = createRequire(join(cache, 'langchain', 'package.json'))
const { MultiServerMCPClient } = await import(pathToFileURL(require.resolve('@langchain/mcp-adapters')).href)
const client = new MultiServerMCPClient({
  mcpServers: {
    cerith: {
      transport: 'stdio',
      command: process.execPath,
      args: [...server, 'mcp', '--yield', String(YIELD_MS), '--set', 'policy.preset=careful'],
      env: { PATH: process.env.PATH, CERITH_HOME: process.env.CERITH_HOME },
    },
  },
})
const problems = []
try {
  const bash = (await client.getTools()).find(({ name }) => name.endsWith('Bash'))
  for (const { what, args, facts } of SCENES) {
    const reached = await bash.invoke({ type: 'tool_call', id: what, name: bash.name, args }).then(
      (message) => JSON.stringify(message),
      (error) => `${error.name}: ${error.message}`,
    )
    for (const fact of facts)
      if (!fact.test(reached)) problems.push(`${what}: ${fact} is not in ${reached.slice(0, 300)}`)
  }
} finally {
  await client.close()
}
console.log(JSON.stringify({ ok: problems.length === 0, problems }))
