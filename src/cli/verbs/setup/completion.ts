/** `cerith completion`: completion for bash and zsh, made from the same descriptions as the help. */
import { EXIT, UsageError } from '../../io/io.js'
import { defineVerb, type OptionRow, type Verb } from '../../verb/verb.js'
import { VERBS } from '../../verbs.js'

/** Verbs whose first word is the id of a job. */
const TAKE_ID = ['read', 'wait', 'send', 'kill', 'attach']

export const verb = defineVerb({
  usage: 'bash|zsh',
  words: [1, 1],
  options: [],
  examples: [
    ['source <(cerith completion bash)', 'in ~/.bashrc'],
    ['source <(cerith completion zsh)', 'in ~/.zshrc, after compinit'],
  ],
  async run({ words }, io) {
    const shell = words[0]
    if (shell !== 'bash' && shell !== 'zsh')
      throw new UsageError(`there is no completion for ${JSON.stringify(shell)}`, 'Use bash or zsh.')
    const verbs = await Promise.all(VERBS.map((row) => row.load()))
    io.out.write(shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${script(verbs)}` : script(verbs))
    return EXIT.ok
  },
})

/** zsh runs the same script through its bashcompinit. */
function script(verbs: readonly Verb[]): string {
  const cases = verbs.map(
    ({ name, options }) =>
      `    ${name}) options='${[...options.filter(({ hidden }) => !hidden).map(longFlag), '--help'].join(' ')}' ;;`,
  )
  const choices = verbs.flatMap(({ name, options }) =>
    options
      .filter((row) => row.choices)
      .map(
        (row) =>
          `    ${name}:${longFlag(row)}) COMPREPLY=($(compgen -W '${row.choices?.join(' ')}' -- "$word")); return ;;`,
      ),
  )
  return `_cerith() {
  local word="\${COMP_WORDS[COMP_CWORD]}" verb="\${COMP_WORDS[1]}" before="\${COMP_WORDS[COMP_CWORD-1]}" options=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${verbs.map(({ name }) => name).join(' ')}' -- "$word"))
    return
  fi
  case "$verb:$before" in
${choices.join('\n')}
  esac
  case "$verb" in
${cases.join('\n')}
  esac
  case "$verb" in
    ${TAKE_ID.join('|')})
      case "$word" in
        -*) ;;
        *) [ "$COMP_CWORD" -eq 2 ] && COMPREPLY=($(compgen -W "$(cerith ps --all 2>/dev/null | awk 'NR>1 && /^shell_|^[a-z]+_/ {print $1}')" -- "$word")) && return ;;
      esac ;;
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _cerith cerith
`
}

function longFlag({ flags }: OptionRow): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? ''
}
