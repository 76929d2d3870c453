/** Folds runs of the same line into one line and a count. Off unless asked for: repetition can be the news. */
import type { TextStage } from './terminal/stage.js'

/** Runs of more than `keep` identical lines become the line and a note; shorter ones pass unchanged. */
export function createDuplicateFolder({ keep = 3 }: { keep?: number } = {}): TextStage {
  let unfinished = ''
  let line: string | null = null
  let count = 0

  function endRun(): string {
    if (line === null) return ''
    const shown =
      count > keep ? `${line}\n[the line above was repeated ${count - 1} more times]\n` : `${line}\n`.repeat(count)
    line = null
    count = 0
    return shown
  }

  return {
    push(text) {
      const lines = (unfinished + text).split('\n')
      unfinished = lines.pop()!
      let out = ''
      for (const next of lines) {
        if (next !== line) out += endRun()
        line = next
        count++
      }
      return out
    },
    flush() {
      const out = endRun() + unfinished
      unfinished = ''
      return out
    },
  }
}
