/** `cerith schema`: the tool definitions of a dialect, in the form a vendor wants. Needs no engine. */
import { DIALECTS, FORMATS, toolSchemas, type DialectName } from '../../../tools/index.js'
import { EXIT } from '../../io/io.js'
import { CWD_OPTION } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  options: [
    {
      flags: '--dialect <NAME>',
      about: 'whose tool names and texts',
      choices: Object.keys(DIALECTS) as DialectName[],
      default: 'house',
    },
    { flags: '--format <FORMAT>', about: 'for which API', choices: FORMATS, default: 'openai' },
    CWD_OPTION,
    { flags: '--json', about: 'always on; accepted for symmetry' },
  ],
  examples: [
    ['cerith schema', 'the house tools for OpenAI'],
    ['cerith schema --dialect codex --format mcp', 'what an MCP client of that dialect sees'],
  ],
  async run({ options }, io) {
    const { dialect, format, cwd = io.cwd } = options
    io.out.write(`${JSON.stringify(toolSchemas(dialect, format, { cwd }), null, 2)}\n`)
    return EXIT.ok
  },
})
