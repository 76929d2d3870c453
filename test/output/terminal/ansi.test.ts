import { fc } from '../../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { createAnsiStripper, stripAnsi } from '../../../src/output/terminal/ansi.js'

const E = '\x1b'

/** [what it is, with sequences, what a reader sees] */
const KINDS: readonly [string, string, string][] = [
  ['colour', `${E}[31mred${E}[0m`, 'red'],
  ['colour with many parameters', `${E}[1;38;5;196;48;2;1;2;3mx${E}[m`, 'x'],
  ['colour with colons', `${E}[38:2::1:2:3mx${E}[4:3my${E}[0m`, 'xy'],
  ['cursor movement', `a${E}[2Ab${E}[10;20Hc${E}[5Dd`, 'abcd'],
  ['erase line and screen', `a${E}[Kb${E}[2Jc${E}[0Jd`, 'abcd'],
  ['private mode', `${E}[?25lhidden${E}[?25h`, 'hidden'],
  ['bracketed paste and alternate screen', `${E}[?2004h${E}[?1049hx${E}[?1049l`, 'x'],
  ['secondary attributes', `${E}[>0c${E}[>4;2mx`, 'x'],
  ['kitty keyboard', `${E}[>1u${E}[=5;1u${E}[<ux`, 'x'],
  ['cursor style with an intermediate', `${E}[5 qx`, 'x'],
  ['soft reset', `${E}[!px`, 'x'],
  ['mode request', `${E}[?2026$px`, 'x'],
  ['window manipulation', `${E}[22;0;0tx`, 'x'],
  ['scroll region', `${E}[1;24rx`, 'x'],
  ['title ended by BEL', `${E}]0;my title\x07x`, 'x'],
  ['title ended by ST', `${E}]2;my title${E}\\x`, 'x'],
  ['link', `${E}]8;;https://example.com/?a=b;c${E}\\link${E}]8;;${E}\\`, 'link'],
  ['link with an id, ended by BEL', `${E}]8;id=1;https://example.com\x07link${E}]8;;\x07`, 'link'],
  ['clipboard', `${E}]52;c;aGVsbG8=\x07x`, 'x'],
  ['shell integration', `${E}]133;A\x07$ ls${E}]133;C\x07`, '$ ls'],
  ['editor shell integration', `${E}]633;E;ls -la;nonce\x07x${E}]633;D;0\x07`, 'x'],
  ['inline picture', `${E}]1337;File=name=YQ==;inline=1:aGVsbG8=\x07x`, 'x'],
  ['current directory', `${E}]7;file://host/tmp${E}\\x`, 'x'],
  ['palette', `${E}]4;1;rgb:ff/00/00${E}\\x`, 'x'],
  ['title with letters beyond ASCII', `${E}]0;é 🔑\x07x`, 'x'],
  ['settings request', `${E}P$qm${E}\\x`, 'x'],
  ['capabilities request', `${E}P+q544e${E}\\x`, 'x'],
  ['sixel picture over lines', `${E}Pq"1;1;9;9#0;2;0;0;0#0~~@@\n-#0!9?${E}\\x`, 'x'],
  ['tmux pass-through', `${E}Ptmux;${E}${E}]0;t\x07${E}\\x`, 'x'],
  ['kitty picture', `${E}_Gf=24,s=1,v=1;AAAA${E}\\x`, 'x'],
  ['privacy message', `${E}^secret${E}\\x`, 'x'],
  ['start of string', `${E}Xanything${E}\\x`, 'x'],
  ['screen title', `${E}kname${E}\\x`, 'x'],
  ['charset selection', `${E}(Ba${E})0b${E}*Bc${E}%Gd`, 'abcd'],
  ['shift out and in', 'a\x0eb\x0fc', 'abc'],
  ['save and restore cursor', `${E}7a${E}8b`, 'ab'],
  ['keypad, index, full reset', `${E}=a${E}>b${E}Dc${E}Md${E}ce`, 'abcde'],
  ['double height', `${E}#8a`, 'a'],
  ['C1 CSI', 'a\x9b31mred\x9b0m', 'ared'],
  ['C1 OSC ended by C1 ST', '\x9d0;title\x9cx', 'x'],
  ['C1 DCS', '\x90$qm\x9cx', 'x'],
  ['C1 singles', 'a\x84b\x8dc', 'abc'],
  ['cancelled by CAN and SUB', `${E}[3\x18a${E}]0;t\x1ab`, 'ab'],
  ['broken off by the next', `${E}[3${E}[31mx${E}]0;t${E}[0my`, 'xy'],
]

const UNFINISHED = [
  '',
  E,
  `${E}[`,
  `${E}[31`,
  `${E}[?2`,
  `${E}]`,
  `${E}]0;tit`,
  `${E}]8;;http://x${E}`,
  `${E}P`,
  `${E}Pq#0`,
  `${E}_G`,
  `${E}(`,
  '\x9b3',
]

const all = (pieces: readonly string[]): string => {
  const stripper = createAnsiStripper()
  return pieces.map((piece) => stripper.push(piece)).join('') + stripper.flush()
}

describe('EXEC-14 F30: sequences are removed', () => {
  test.each(KINDS)('%s', (_, given, seen) => {
    expect(stripAnsi(`before ${given} after`)).toBe(`before ${seen} after`)
  })

  test.each(UNFINISHED)('unfinished at the end: %j', (end) => {
    expect(stripAnsi(`abc${end}`)).toBe('abc')
  })

  test('plain text, tabs, line breaks, NUL, BEL and letters of all kinds stay', () => {
    const plain = 'a\tb\r\nc\0d\x07 é ═ 🔑 \u00a0 [31m ]0;x\n'
    expect(stripAnsi(plain)).toBe(plain)
  })
})

describe('EXEC-14 F31: a split changes nothing', () => {
  test.each(KINDS)('%s, at every offset and letter by letter', (_, given, seen) => {
    for (let cut = 0; cut <= given.length; cut++) expect(all([given.slice(0, cut), given.slice(cut)])).toBe(seen)
    expect(all([...given])).toBe(seen)
  })

  test('any mixture of sequences and garbage, in any pieces', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...KINDS.map(([, given]) => given),
        ...UNFINISHED,
        'text',
        '\n',
        '\r',
        ';',
        'q',
        '\\',
        '\x07',
        '\x9c',
        '\x98',
        '\x85',
      ),
      fc.string({ maxLength: 3, unit: 'binary' }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 8 }), (parts, cuts) => {
        const text = parts.join('')
        const at = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
          (a, b) => a - b,
        )
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end))
        expect(all(pieces)).toBe(stripAnsi(text))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('what is broken costs little', () => {
  test('an unfinished title costs its line, not the rest of the output', () => {
    expect(stripAnsi(`a${E}]0;oops\nb\nc`)).toBe('a\nb\nc')
    expect(stripAnsi(`a${E}_oops\nb`)).toBe('a\nb')
  })

  test('a sequence cut off by the end of its line leaves the next line alone', () => {
    expect(stripAnsi(`a${E}[3\nbold`)).toBe('a\nbold')
  })

  test('an unfinished picture ends where no picture can go on', () => {
    expect(stripAnsi(`a${E}Pq#0;2;0~~\nplain words follow`)).toBe('a words follow')
  })

  test('text that was decoded wrongly keeps its words', () => {
    expect(stripAnsi('it\u00e2\u0080\u0098s fine\nnext \u009dline\n')).toBe('it\u00e2s fine\nnext line\n')
    expect(stripAnsi(`it\u0098s ${E}[31mred${E}[0m`)).toBe('its red')
  })

  test('what was stripped once has nothing left to strip', () => {
    for (const [, given] of KINDS) expect(stripAnsi(stripAnsi(given))).toBe(stripAnsi(given))
  })
})
