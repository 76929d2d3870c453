// `node scripts/recording.mjs`: plays the scene of docs/agent-at-work.svg with the real command
// line, keeps it as an asciicast and draws it.
// Needs `script` of util-linux; the scene runs in a state directory of its own.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const COLS = 100
const ROWS = 24
const LINE = 18
const CHAR = 8.4
/** Quicker changes are one picture. */
const FRAME_SECONDS = 0.12
const LAST_SECONDS = 4
const COLOURS = ['#637777', '#ef5350', '#22da6e', '#ecc48d', '#82aaff', '#c792ea', '#21c7a8', '#ffffff']

const events = await record()
writeFileSync(
  join(root, 'docs/agent-at-work.cast'),
  `${[{ version: 2, width: COLS, height: ROWS }, ...events].map((one) => JSON.stringify(one)).join('\n')}\n`,
)
writeFileSync(join(root, 'docs/agent-at-work.svg'), await draw(events))

/** Asciicast events `[seconds, "o", text]` of the scene. */
async function record() {
  const home = mkdtempSync(join(tmpdir(), 'scene-'))
  const env = {
    PATH: `${join(home, 'bin')}:${process.env.PATH}`,
    HOME: home,
    CERITH_HOME: join(home, 'state'),
    CERITH_CLI: join(root, 'dist/cli.js'),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    NODE: process.execPath,
  }
  const child = spawn(
    'script',
    ['-qefc', `stty cols ${COLS} rows ${ROWS}; bash ${join(root, 'scripts/recording-scene.sh')}`, '/dev/null'],
    { env, cwd: home, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const startedAt = performance.now()
  const found = []
  child.stdout
    .setEncoding('utf8')
    .on('data', (text) => found.push([(performance.now() - startedAt) / 1_000, 'o', text]))
  await new Promise((resolve) => child.once('close', resolve))
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  // What was hidden in the preparation is behind a mark.
  const from = found.findIndex(([, , text]) => text.includes('\u001b]0;scene\u0007'))
  const [begin] = found[from]
  return found.slice(from).map(([at, kind, text]) => [Number((at - begin).toFixed(3)), kind, text])
}

/** One picture per change, shown in turn by CSS: plays wherever an SVG is shown, without a script. */
async function draw(cast) {
  const { default: xterm } = await import('@xterm/headless')
  const terminal = new xterm.Terminal({ cols: COLS, rows: ROWS, allowProposedApi: true })
  const frames = []
  for (const [at, , text] of cast) {
    await new Promise((resolve) => terminal.write(text, resolve))
    const rows = picture(terminal)
    const last = frames.at(-1)
    if (last && at - last.at < FRAME_SECONDS) last.rows = rows
    else frames.push({ at, rows })
  }
  const total = frames.at(-1).at + LAST_SECONDS
  const percent = (at) => ((at / total) * 100).toFixed(2)
  const styles = frames.map(({ at }, index) => {
    const end = frames[index + 1]?.at ?? total
    const before = index === 0 ? '' : `0%{opacity:0}`
    return `@keyframes f${index}{${before}${percent(at)}%{opacity:1}${percent(end)}%{opacity:${end === total ? 1 : 0}}}.f${index}{animation:f${index} ${total.toFixed(1)}s infinite step-end;opacity:0}`
  })
  const groups = frames.map(({ rows }, index) => `<g class="f${index}">${rows}</g>`)
  const width = Math.ceil(COLS * CHAR + 32)
  const height = ROWS * LINE + 32
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    '<title>An agent at work: ps, attach, approve</title>',
    `<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d6deeb;white-space:pre}${styles.join('')}</style>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#011627"/>`,
    ...groups,
    '</svg>',
    '',
  ].join('\n')
}

function picture(terminal) {
  const buffer = terminal.buffer.active
  const lines = []
  for (let row = 0; row < ROWS; row++) {
    const line = buffer.getLine(buffer.baseY + row)
    const runs = runsOf(line)
    if (runs.length > 0) lines.push(`<text x="16" y="${16 + (row + 1) * LINE - 4}">${runs.join('')}</text>`)
  }
  return lines.join('')
}

/** The text of a row in pieces of one colour. */
function runsOf(line) {
  const text = line?.translateToString(true) ?? ''
  const runs = []
  let colour = null
  let run = ''
  const flush = () => {
    if (run !== '') runs.push(colour === null ? escape(run) : `<tspan fill="${colour}">${escape(run)}</tspan>`)
    run = ''
  }
  for (let col = 0; col < text.length; col++) {
    const cell = line.getCell(col)
    const next = cell?.isFgPalette() ? COLOURS[cell.getFgColor() % 8] : cell?.isDim() ? COLOURS[0] : null
    if (next !== colour) flush()
    colour = next
    run += cell?.getChars() || ' '
  }
  flush()
  return runs
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
