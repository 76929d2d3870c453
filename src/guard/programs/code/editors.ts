/** Editors that run commands: vim and its like, emacs. */
import { plain, UNKNOWN } from '../../words/text.js'
import { basename, type Program } from '../row/call.js'
import { judgeCode } from './inline.js'

const LINE_EDITORS = /^(?:vim?|nvim|ex|ed|red|gvim|rvim)$/

/** vim -c '!cmd', +'!cmd', ex scripts on stdin. */
export const editor: Program = (call) => {
  const words = call.args.map(plain)
  const lines = words.flatMap((word, i) =>
    /^(-\w*c|--cmd)$/.test(words[i - 1] ?? '') ? [word] : word.startsWith('+') ? [word.slice(1)] : [],
  )
  // A file of commands, or of keys.
  for (const [i, word] of call.args.entries())
    if (/^-[Sslu]$/.test(words[i - 1] ?? ''))
      for (const text of call.contents(word))
        if (text !== UNKNOWN) lines.push(...(words[i - 1] === '-l' ? [`lua ${plain(text)}`] : plain(text).split('\n')))
  const batch =
    words.some((word) => /^-(es|s|e|E|Es)$/.test(word)) || /^(?:ex|ed|red)$/.test(basename(call.argv[0] ?? ''))
  if (batch) for (const text of call.stdin ?? []) lines.push(...text.split('\n'))
  const files = words.filter(
    (word, i) => !/^[-+]/.test(word) && !/^(-\w*[cST]|--cmd|-u|-i|-p|--prompt|-o)$/.test(words[i - 1] ?? ''),
  )
  const saves = lines.some((line) => /(?:^|\||:|\s)(?:w|wq|x|xit|wa|wqa|xa|ZZ|up|update|write)!?\s*(?:\||$)/.test(line))
  const empties = lines.some((line) =>
    /^:?\s*(?:silent!?\s*)?(?:%|,|1,\$|0,\$|g\/.*\/)\s*d(?:elete)?\b|\bggdG\b/.test(line),
  )
  if (saves && LINE_EDITORS.test(basename(call.argv[0] ?? ''))) call.effects(empties ? 'overwrite' : 'edit', files)
  for (const line of lines) {
    const shell =
      /^:?\s*(?:sil(?:ent)?!?\s*)?(?:exec?(?:ute)?\s*["'])?(?:[%\d,$.]*|r(?:ead)?\s*|w(?:rite)?\s*|term(?:inal)?\s*|te\s*)!\s*(.+?)["']?$/s.exec(
        line,
      )
    if (shell?.[1]) call.tryScript(shell[1])
    const writes = /^:?\s*(?:w|write|wq|sav(?:eas)?|x)!?\s+(\/[^\s|]+)/.exec(line)
    if (writes?.[1]) call.effect('overwrite', writes[1])
    if (/\b(system|systemlist|jobstart|termopen|os\.execute|job_start|term_start|delete|writefile)\s*\(/.test(line))
      judgeCode(line.replace(/^:?\s*(call|lua|py3?|python3?)\s+/, ''), 'vim', call)
    const rust = /^:?\s*(?:py3?|python3?|perl|ruby|lua)\s+(.*)$/s.exec(line)
    if (rust?.[1]) judgeCode(rust[1], 'python', call)
  }
}

export const emacs: Program = (call) => {
  for (const [i, word] of call.argv.entries())
    if (/^(?:--?(?:eval|execute)|-e)$/.test(word)) judgeCode(plain(call.argv[i + 1] ?? ''), 'lisp', call)
  for (const word of call.argv) {
    const code = /^--(?:eval|execute)=(.*)$/s.exec(plain(word))?.[1]
    if (code) judgeCode(code, 'lisp', call)
  }
  const text = call.argv.join('\n')
  if (/-batch\b/.test(text) && /save-buffer/.test(text))
    for (const word of call.args)
      if (word.startsWith('/')) call.effect(/erase-buffer/.test(text) ? 'overwrite' : 'edit', word)
}
