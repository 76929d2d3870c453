/** Tokens of every text (first) and of its structured half (second), per case and dialect. Made by texts.test.ts: a text that grows fails there. */
import type { DialectName } from '../../src/tools/index.js'

export type CaseName = keyof typeof TABLE

const TABLE = {
  "success": { "house": [11, 15], "lango": [2, 19], "phoenix": [2, 22], "forge": [2, 36], "wave": [2, 10], "anthropic": [2, 15], "codex": [18, 17], "gemini": [4, 13], "openai-shell": [7, 24] },
  "silence": { "house": [12, 10], "lango": [3, 16], "phoenix": [4, 19], "forge": [3, 32], "wave": [8, 16], "anthropic": [3, 12], "codex": [16, 14], "gemini": [5, 14], "openai-shell": [5, 21] },
  "both streams": { "house": [16, 20], "lango": [4, 22], "phoenix": [4, 24], "forge": [7, 47], "wave": [4, 12], "anthropic": [4, 17], "codex": [20, 19], "gemini": [6, 15], "openai-shell": [12, 27] },
  "exit 2": { "house": [16, 20], "lango": [14, 22], "phoenix": [13, 24], "forge": [15, 68], "wave": [13, 23], "anthropic": [9, 23], "codex": [20, 19], "gemini": [12, 21], "openai-shell": [12, 27] },
  "the shell exits": { "house": [11, 15], "lango": [12, 19], "phoenix": [11, 22], "forge": [10, 49], "wave": [11, 21], "anthropic": [7, 21], "codex": [18, 17], "gemini": [10, 19], "openai-shell": [7, 24] },
  "set -e ends the shell": { "house": [42, 47], "lango": [12, 19], "phoenix": [11, 22], "forge": [41, 113], "wave": [42, 52], "anthropic": [38, 52], "codex": [18, 17], "gemini": [10, 19], "openai-shell": [41, 56] },
  "a signal": { "house": [30, 29], "lango": [51, 41], "phoenix": [50, 63], "forge": [26, 85], "wave": [27, 37], "anthropic": [23, 36], "codex": [57, 58], "gemini": [48, 59], "openai-shell": [26, 40] },
  "a timeout": { "house": [27, 43], "lango": [12, 20], "phoenix": [16, 22], "forge": [10, 59], "wave": [6, 16], "anthropic": [28, 43], "codex": [20, 17], "gemini": [30, 61], "openai-shell": [6, 19] },
  "a yield": { "house": [41, 69], "lango": [30, 62], "phoenix": [26, 39], "forge": [37, 99], "wave": [32, 48], "anthropic": [27, 29], "codex": [21, 18], "gemini": [25, 43], "openai-shell": [34, 45] },
  "a refusal": { "house": [48, 74], "lango": [48, 57], "phoenix": [48, 59], "forge": [48, 87], "wave": [48, 59], "anthropic": [48, 65], "codex": [48, 55], "gemini": [48, 53], "openai-shell": [56, 70] },
  "a dry run": { "house": [16, 35], "lango": [9, 31], "phoenix": [9, 34], "forge": [9, 48], "wave": [9, 17], "anthropic": [9, 23], "codex": [9, 13], "gemini": [9, 13], "openai-shell": [14, 31] },
  "a moved directory": { "house": [21, 30], "lango": [2, 20], "phoenix": [2, 23], "forge": [11, 49], "wave": [11, 20], "anthropic": [12, 25], "codex": [18, 18], "gemini": [5, 14], "openai-shell": [20, 35] },
  "grep finds nothing": { "house": [27, 26], "lango": [28, 16], "phoenix": [24, 35], "forge": [23, 75], "wave": [24, 34], "anthropic": [20, 28], "codex": [31, 30], "gemini": [25, 35], "openai-shell": [23, 37] },
  "no such program": { "house": [25, 26], "lango": [27, 34], "phoenix": [26, 37], "forge": [24, 79], "wave": [22, 32], "anthropic": [18, 32], "codex": [33, 32], "gemini": [25, 34], "openai-shell": [21, 35] },
  "not executable": { "house": [58, 59], "lango": [60, 30], "phoenix": [59, 70], "forge": [57, 142], "wave": [55, 65], "anthropic": [51, 65], "codex": [66, 65], "gemini": [56, 66], "openai-shell": [54, 68] },
  "an editor": { "house": [72, 77], "lango": [66, 31], "phoenix": [65, 79], "forge": [67, 173], "wave": [65, 78], "anthropic": [61, 78], "codex": [75, 78], "gemini": [62, 75], "openai-shell": [64, 81] },
  "read without input": { "house": [44, 43], "lango": [38, 16], "phoenix": [34, 44], "forge": [33, 93], "wave": [34, 44], "anthropic": [30, 37], "codex": [47, 46], "gemini": [34, 44], "openai-shell": [33, 47] },
  "vim without a terminal": { "house": [47, 49], "lango": [41, 29], "phoenix": [40, 52], "forge": [42, 136], "wave": [40, 50], "anthropic": [36, 50], "codex": [50, 50], "gemini": [37, 47], "openai-shell": [39, 53] },
  "vim that waits without a terminal": { "house": [76, 99], "lango": [58, 71], "phoenix": [54, 67], "forge": [68, 152], "wave": [60, 76], "anthropic": [55, 57], "gemini": [52, 71], "openai-shell": [62, 73] },
  "apt with its carriage returns": { "house": [15, 19], "anthropic": [6, 19], "codex": [22, 21], "gemini": [8, 17], "openai-shell": [11, 28] },
  "a killed shell": { "house": [43, 47], "lango": [13, 23], "phoenix": [9, 25], "forge": [38, 109], "wave": [38, 48], "anthropic": [36, 49], "codex": [17, 14], "gemini": [11, 26], "openai-shell": [38, 52] },
  "a pipe that broke inside": { "house": [37, 43], "lango": [25, 16], "phoenix": [25, 45], "forge": [25, 60], "wave": [25, 33], "anthropic": [25, 38], "codex": [16, 14], "gemini": [29, 39], "openai-shell": [33, 47] },
  "a progress bar": { "house": [22, 26], "anthropic": [13, 26], "codex": [29, 28], "gemini": [14, 23], "openai-shell": [18, 35] },
  "binary": { "house": [50, 76], "anthropic": [42, 58], "codex": [68, 60], "gemini": [45, 57], "openai-shell": [52, 66] },
  "a clipped failure": { "house": [12643, 12662], "anthropic": [12641, 12649], "codex": [16975, 16968], "gemini": [12645, 12658], "openai-shell": [12643, 12649] },
  "a job starts": { "house": [31, 34], "lango": [22, 12], "forge": [47, 92], "wave": [27, 41] },
  "a job is read": { "house": [19, 37], "lango": [23, 40], "forge": [12, 56], "wave": [8, 26] },
  "a job is killed": { "house": [17, 30], "lango": [13, 17], "forge": [12, 54], "wave": [8, 23] },
  "an approval nobody gave": { "house": [89, 109], "lango": [89, 99], "phoenix": [89, 101], "forge": [89, 156], "wave": [89, 101], "anthropic": [89, 107], "codex": [89, 97], "gemini": [89, 95], "openai-shell": [97, 112] },
  "a wrong field": { "house": [33, 45], "lango": [23, 27], "phoenix": [25, 25], "forge": [21, 37], "wave": [21, 31], "anthropic": [15, 30], "codex": [27, 33], "gemini": [23, 27], "openai-shell": [20, 27] },
  "a server": { "house": [39, 49], "codex": [36, 35] },
  "a wait that ran out": { "house": [52, 55] },
  "a screen": { "house": [170, 187], "codex": [166, 169] },
  "a screen that changed": { "house": [34, 53], "codex": [35, 33] },
  "a question": { "house": [33, 46], "codex": [25, 25] },
} as const // prettier-ignore

export const COST: Readonly<Record<string, Partial<Record<DialectName, readonly [number, number]>>>> = TABLE
