// world.mjs FILES COMMAND...: serves the files that a JSON file holds (base64, by path) on port 80, on whatever address
// leads here, and runs COMMAND meanwhile. Meant for a network namespace of its own.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const [listed, ...command] = process.argv.slice(2)
const files = JSON.parse(readFileSync(listed, 'utf8'))
const server = createServer((request, response) => {
  const body = files[(request.url ?? '').split('?')[0]]
  if (body === undefined) return response.writeHead(404).end()
  response.setHeader('content-type', request.url.endsWith('/') ? 'text/html' : 'application/octet-stream')
  response.end(Buffer.from(body, 'base64'))
})
server.listen(80, '0.0.0.0', () => {
  const child = spawn(command[0], command.slice(1), { stdio: 'inherit' })
  child.on('error', (error) => process.exit((console.error(error.message), 127)))
  child.on('exit', (code) => process.exit(code ?? 1))
})
