/** `cerith doctor`: what works on this machine, and how to fix what does not. */
import { EXIT, type Io } from '../../io/io.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { painter } from '../../io/paint.js'
import { defineVerb } from '../../verb/verb.js'
import { attempt } from '../../../contract/attempt.js'

export const verb = defineVerb({
  usage: '',
  words: [0, 0],
  options: [JSON_OPTION, { flags: '--no-mcp', about: 'without the MCP self-test' }],
  examples: [
    ['cerith doctor', 'one line per thing: ok, degraded or broken, with the fix'],
    ['cerith doctor --json', 'for a bug report'],
    ['cerith --at ssh://build doctor', 'the same for another place'],
  ],
  details: 'Exit code: 0 when nothing is broken, 1 otherwise.',
  run: ({ options }, io) => doctor(options, io),
})

/** A configuration that cannot be read names no place; the finding about it says what is wrong. */
function namesPlace(io: Io, placeOf: (io: Io, flags: undefined) => unknown): boolean {
  return attempt(() => placeOf(io, undefined) !== null, false)
}

async function doctor({ json = false, mcp = true }: { json?: boolean; mcp?: boolean }, io: Io): Promise<number> {
  const { examine } = await import('../../doctor/doctor.js')
  const { findStateDirectory } = await import('../../../os/files/state-dir.js')
  const { ownVersion } = await import('../../../os/package/file.js')
  const { configFinding, umaskFinding } = await import('../../doctor/config.js')
  const { exposureFindings } = await import('../../doctor/sandbox-settings.js')
  const { hookFindings } = await import('../../doctor/hooks.js')
  const { placeOf } = await import('../../verb/open-engine.js')
  const { path: stateDir, problem: elsewhere } = findStateDirectory(io.env)
  const isElsewhere = namesPlace(io, placeOf)
  const findings = isElsewhere
    ? [...(await (await import('../../doctor/place.js')).placeFindings(io)), configFinding(io)]
    : [
        ...(await examine({ env: io.env, stateDir, elsewhere })),
        ...exposureFindings(io),
        configFinding(io),
        umaskFinding(),
        ...hookFindings(io),
      ]
  if (mcp && !isElsewhere) findings.push(...(await (await import('../../doctor/mcp.js')).mcpFindings(io)))
  const broken = findings.some(({ state }) => state === 'broken')
  if (json)
    io.out.write(
      `${JSON.stringify({ version: ownVersion(), node: process.version, platform: `${process.platform}-${process.arch}`, ok: !broken, findings })}\n`,
    )
  else {
    const paint = painter(io.out, io.env)
    const width = Math.max(...findings.map(({ name }) => name.length))
    for (const { name, state, detail, fix } of findings) {
      const mark =
        state === 'ok'
          ? paint('green', 'ok      ')
          : state === 'degraded'
            ? paint('yellow', 'degraded')
            : paint('red', 'broken  ')
      io.out.write(
        `${mark}  ${name.padEnd(width)}  ${detail}\n${fix && state !== 'ok' ? `${' '.repeat(width + 12)}-> ${fix}\n` : ''}`,
      )
    }
    io.out.write(
      `\ncerith ${ownVersion()} on Node ${process.version}, ${process.platform}-${process.arch}: ${broken ? 'something is broken' : findings.some(({ state }) => state === 'degraded') ? 'works, with less than it could' : 'everything works'}\n`,
    )
  }
  return broken ? 1 : EXIT.ok
}
