/**
 * A terminal that shows output and, while it is taken over, passes keys on. What output could
 * do to the page is switched off.
 */
import { FitAddon } from '@xterm/addon-fit'
import { Terminal, type ITheme } from '@xterm/xterm'

// The page's policy lets only style elements with its nonce through; xterm.js makes some of its own.
const nonce = document.querySelector<HTMLMetaElement>('meta[name=nonce]')?.content ?? ''
const make = document.createElement.bind(document)
document.createElement = ((name: string, options?: ElementCreationOptions) => {
  const element = make(name, options)
  if (name === 'style') element.nonce = nonce
  return element
}) as typeof document.createElement

const LIGHT: ITheme = {
  background: '#fcfcfb',
  foreground: '#1d1f21',
  cursor: '#0b6b74',
  selectionBackground: '#bfe0e3',
  black: '#1d1f21',
  red: '#b3261e',
  green: '#1a7f4b',
  yellow: '#8a5a00',
  blue: '#1f5fae',
  magenta: '#8a3d9c',
  cyan: '#0b6b74',
  white: '#6b7177',
  brightBlack: '#5c6166',
  brightRed: '#c8382f',
  brightGreen: '#1f8f56',
  brightYellow: '#966600',
  brightBlue: '#2a6fc4',
  brightMagenta: '#9a4dac',
  brightCyan: '#0e7d87',
  brightWhite: '#3a3e42',
}
const DARK: ITheme = {
  background: '#131516',
  foreground: '#d9dcde',
  cursor: '#5cc0c9',
  selectionBackground: '#2d4a4e',
  black: '#2e3336',
  red: '#ff8a80',
  green: '#5fcf93',
  yellow: '#f0c060',
  blue: '#7fb4f0',
  magenta: '#d59be6',
  cyan: '#5cc0c9',
  white: '#d9dcde',
  brightBlack: '#9aa1a7',
  brightRed: '#ffa39b',
  brightGreen: '#84deac',
  brightYellow: '#f6d388',
  brightBlue: '#a3caf6',
  brightMagenta: '#e3b8ef',
  brightCyan: '#86d5dc',
  brightWhite: '#ffffff',
}

const FONT = 12.5
/** A wide terminal on a narrow page is scrolled sideways rather than drawn smaller. */
const READABLE = 10
/** Titles, colours (also asked for), directories, notices, the clipboard, prompts, images: none of it is the page's. */
const SWALLOWED = [0, 1, 2, 4, 7, 9, 10, 11, 12, 50, 52, 104, 110, 111, 112, 133, 777, 1337]
/** What are you, where is the cursor, which mode is set, how large is the window. */
const QUESTIONS = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { prefix: '>', final: 'q' },
  { prefix: '?', final: 'u' },
  { final: 't' },
  { final: 'x' },
]

export interface TerminalOptions {
  readonly dark: boolean
  /** Lines end with a line feed alone: there was no terminal. */
  readonly plain: boolean
  readonly onType: (text: string) => void
  readonly onLink: (uri: string) => void
  readonly onLeave: () => void
}

export function openTerminal(place: HTMLElement, options: TerminalOptions) {
  const term = new Terminal({
    convertEol: options.plain,
    scrollback: 5_000,
    fontSize: FONT,
    lineHeight: 1.25,
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    theme: options.dark ? DARK : LIGHT,
    disableStdin: true,
    cursorInactiveStyle: 'none',
    minimumContrastRatio: 4.5,
    // A link in output says one thing and may lead elsewhere: it is shown before it is followed.
    linkHandler: { activate: (_event, uri) => options.onLink(uri), allowNonHttpProtocols: false },
  })
  for (const code of SWALLOWED) term.parser.registerOscHandler(code, () => true)
  // Questions to the terminal get no answer: it would be typed into the program.
  for (const id of QUESTIONS) term.parser.registerCsiHandler(id, () => true)
  for (const intermediates of ['$', '+']) term.parser.registerDcsHandler({ intermediates, final: 'q' }, () => true)
  const fit = new FitAddon()
  term.loadAddon(fit)
  term.open(place)
  term.attachCustomKeyEventHandler((event) => {
    if (!(event.ctrlKey && event.key === ']')) return true
    if (event.type === 'keydown') options.onLeave()
    return false
  })
  let fixed: { cols: number; rows: number } | null = null
  const adjust = (): void => {
    if (!fixed) {
      term.options.fontSize = FONT
      return fit.fit()
    }
    term.options.fontSize = Math.max(READABLE, Math.min(FONT, (place.clientWidth - 24) / fixed.cols / 0.605))
    term.resize(fixed.cols, fixed.rows)
  }
  adjust()
  const watch = new ResizeObserver(adjust)
  watch.observe(place)
  term.onData((text) => {
    if (!term.options.disableStdin) options.onType(text)
  })
  return {
    write: (text: string, done: () => void) => term.write(text, done),
    clear: () => term.reset(),
    fix(to: { cols: number; rows: number } | null) {
      fixed = to
      adjust()
    },
    take(on: boolean) {
      term.options.disableStdin = !on
      if (on) term.focus()
    },
    theme: (dark: boolean) => void (term.options.theme = dark ? DARK : LIGHT),
    get size() {
      return { cols: term.cols, rows: term.rows }
    },
    close() {
      watch.disconnect()
      term.dispose()
    },
  }
}

export type OpenTerminal = ReturnType<typeof openTerminal>
