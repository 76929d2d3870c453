/**
 * Files whose text is run later: shell start-up files, cron tables, hooks and settings of git, service
 * units. Written with known text, it is judged now.
 */
import { commandsOfGitConfig } from '../programs/git.js'
import { cronJobs } from '../programs/machine/cron.js'
import { unitCommands } from '../programs/machine/units.js'
import type { ShellState } from '../words/state.js'
import { hasUnknown, plain } from '../words/text.js'
import type { Walker } from './walk.js'

const SHELL_CODE =
  /\/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|xinitrc|xprofile|envrc)$|\/fish\/(?:config|conf\.d\/[^/]+)\.fish$|^\/etc\/(?:profile|bash\.bashrc|rc\.local|environment|profile\.d\/[^/]+|cron\.(?:daily|hourly|weekly|monthly)\/[^/]+|init\.d\/[^/]+|update-motd\.d\/[^/]+|NetworkManager\/dispatcher\.d\/[^/]+|network\/if-[\w-]+\.d\/[^/]+|dhcp\/dhclient-\w+-hooks\.d\/[^/]+)$|\/\.git\/hooks\/[^/]+$|\/\.husky\/[^/]+$|\/\.githooks\/[^/]+$|\/(?:pre|post)-(?:commit|push|checkout|merge|rewrite|receive|applypatch)$|\/(?:commit-msg|prepare-commit-msg|applypatch-msg)$/
const CRON_TABLE = /^\/etc\/(?:crontab|cron\.d\/[^/]+)$|^\/var\/spool\/cron\//
const GIT_CONFIG = /\/\.git\/config$|\/\.gitconfig$|\/\.config\/git\/config$|^\/etc\/gitconfig$/
const UNIT = /\.(?:service|socket|mount|desktop)$|\.(?:service|socket)\.d\/[^/]+\.conf$/

const PYTHON_BEGINS = /\/(?:site|user)customize\.py$/
const DEVICE_RULES = /\/udev\/rules\.d\/[^/]+$/

/** Whether some program runs the text of the file. (`judgeCodeFile` knows more such files of the system.) */
export function isCodeFile(path: string): boolean {
  return [SHELL_CODE, CRON_TABLE, GIT_CONFIG, UNIT, PYTHON_BEGINS, DEVICE_RULES].some((one) => one.test(path))
}

export function judgeCodeFile(path: string, texts: readonly string[], shell: ShellState, walker: Walker): void {
  const judge = (text: string): void => walker.tryScript(text, shell)
  // A line that makes another account root.
  if (
    /^\/etc\/(?:passwd|shadow)$/.test(path) &&
    texts.some((text) => /^(?!root:)[^:\n]+:[^:\n]*:0+:/m.test(plain(text)))
  )
    walker.report('overwrite-critical', ['>>', path])
  for (const text of texts) {
    if (hasUnknown(text) && text.length < 2) continue
    if (SHELL_CODE.test(path)) {
      judge(plain(text))
      for (const [, , body] of plain(text).matchAll(/^\s*alias\s+[^=\s]+=(["'])(.*?)\1/gm)) judge(body ?? '')
    } else if (CRON_TABLE.test(path)) for (const job of cronJobs(plain(text), path.startsWith('/etc/'))) judge(job)
    else if (GIT_CONFIG.test(path)) commandsOfGitConfig(plain(text)).forEach(judge)
    // Every Python that finds it on its path begins with it.
    else if (PYTHON_BEGINS.test(path)) walker.code(plain(text))
    else if (DEVICE_RULES.test(path))
      for (const match of plain(text).matchAll(/\bRUN(?:\{program\})?\+?="([^"]*)"/g)) judge(match[1] ?? '')
    else if (/^\/etc\/modprobe\.d\//.test(path))
      for (const match of plain(text).matchAll(/^\s*(?:install|remove)\s+\S+\s+(.*)$/gm)) judge(match[1] ?? '')
    else if (/^\/etc\/apt\/apt\.conf/.test(path))
      for (const match of plain(text).matchAll(/"([^"]*)"/g)) judge(match[1] ?? '')
    else if (path === '/proc/sys/kernel/core_pattern') judge(/^\|(.*)$/m.exec(plain(text))?.[1] ?? '')
    else if (UNIT.test(path)) unitCommands(plain(text), shell.home[0]).forEach(judge)
  }
}
