// slow.mjs MS HOST PORT: a network that is late by MS in each direction, and stalls now and then; for ssh's
// ProxyCommand.
import { connect } from 'node:net'

const [ms, host, port] = process.argv.slice(2)
const socket = connect(Number(port), host)
const late = (from, to) => {
  let turn = Promise.resolve()
  from.on('data', (chunk) => {
    const due = Date.now() + Number(ms)
    turn = turn.then(async () => {
      const left = due - Date.now() + (Math.random() < 0.02 ? 300 : 0)
      if (left > 0) await new Promise((next) => setTimeout(next, left))
      to.write(chunk)
    })
  })
  from.on('end', () => (turn = turn.then(() => to.end())))
}
late(process.stdin, socket)
late(socket, process.stdout)
socket.on('error', () => process.exit(1))
socket.on('close', () => process.exit(0))
