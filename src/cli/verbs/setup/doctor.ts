/** `cerith doctor`: what works on this machine, and how to fix what does not. */
import { EXIT, type Io } from '../../io/io.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { painter } from '../../io/paint.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  options: [JSON_OPTION, { flags: '--no-mcp', about: 'without the MCP self-test' }],
  examples: [
    ['cerith doctor', 'one line per thing: ok, degraded or broken, with the fix'],
    ['cerith doctor --json', 'for a bug report'],
    ['cerith --at ssh://build doctor', 'the same for another place'],
  ],
  details: 'Exit code: 0 when nothing is broken, 1 otherwise.',
  run: ({ options }, io) => doctor(options, io),
})

const COLOURS = { ok: 'green', degraded: 'yellow', broken: 'red' } as const

async function doctor({ json = false, mcp = true }: { json?: boolean; mcp?: boolean }, io: Io): Promise<number> {
  const { allFindings } = await import('../../doctor/doctor.js')
  const { ownVersion } = await import('../../../os/package/file.js')
  const findings = await allFindings(io, { mcp })
  const broken = findings.some(({ state }) => state === 'broken')
  if (json)
    io.out.write(
      JSON.stringify({
        version: ownVersion(),
        node: process.version,
        platform: `${process.platform}-${process.arch}`,
        ok: !broken,
        findings,
      }) + '\n',
    )
  else {
    const paint = painter(io.out, io.env)
    const width = Math.max(...findings.map(({ name }) => name.length))
    for (const { name, state, detail, fix } of findings) {
      const mark = paint(COLOURS[state], state.padEnd(8))
      io.out.write(
        `${mark}  ${name.padEnd(width)}  ${detail}\n` +
          `${fix && state !== 'ok' ? `${' '.repeat(width + 12)}-> ${fix}\n` : ''}`,
      )
    }
    io.out.write(
      `\ncerith ${ownVersion()} on Node ${process.version}, ${process.platform}-${process.arch}: ` +
        `${broken ? 'something is broken' : findings.some(({ state }) => state === 'degraded') ? 'works, with less than it could' : 'everything works'}\n`,
    )
  }
  return broken ? 1 : EXIT.ok
}
