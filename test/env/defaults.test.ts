import { describe, expect, test } from 'vitest'
import { buildEnvironment } from '../../src/env/filter.js'

const env = (base: Record<string, string>, given: Record<string, string> = {}): Record<string, string> =>
  buildEnvironment({ base, given }).env

describe('nobody sits at the other end', () => {
  test('pagers, prompts and editors do not wait for a person', () => {
    expect(env({})).toMatchObject({
      PAGER: 'cat',
      GIT_PAGER: 'cat',
      AWS_PAGER: '',
      GIT_TERMINAL_PROMPT: '0',
      GIT_EDITOR: 'true',
      GIT_SEQUENCE_EDITOR: 'false',
      TERM: 'dumb',
      NO_COLOR: '1',
      DEBIAN_FRONTEND: 'noninteractive',
    })
  })

  test('also when the user exported one that would', () => {
    expect(env({ PAGER: 'less', EDITOR: 'code --wait', TERM: 'xterm-256color', GIT_PAGER: 'delta' })).toMatchObject({
      PAGER: 'cat',
      EDITOR: 'false',
      TERM: 'dumb',
      GIT_PAGER: 'cat',
    })
  })

  test('what the caller gives is never changed', () => {
    const given = {
      PAGER: 'less',
      TERM: 'xterm-256color',
      NO_COLOR: '',
      LANG: 'C',
      GIT_EDITOR: 'vim',
      DEBIAN_FRONTEND: 'dialog',
    }
    expect(env({ LANG: 'de_DE.UTF-8' }, given)).toMatchObject(given)
  })

  test('what the user exported stays where that is no trap', () => {
    const base = { DEBIAN_FRONTEND: 'readline', PIP_NO_INPUT: '0', NO_COLOR: '' }
    expect(env(base)).toMatchObject(base)
  })

  test('CI is left alone', () => {
    expect(env({})).not.toHaveProperty('CI')
    expect(env({ CI: 'true' })).toHaveProperty('CI', 'true')
  })

  test('who forces colours gets no NO_COLOR beside it', () => {
    expect(env({ FORCE_COLOR: '1' })).not.toHaveProperty('NO_COLOR')
    expect(env({}, { CLICOLOR_FORCE: '1' })).not.toHaveProperty('NO_COLOR')
    expect(env({ FORCE_COLOR: '0' })).toHaveProperty('NO_COLOR', '1')
  })

  test('one option turns all of it off', () => {
    expect(buildEnvironment({ base: { PATH: '/bin' }, defaults: false })).toMatchObject({
      env: { PATH: '/bin' },
      added: [],
    })
  })

  test('the names that were added are told', () => {
    const { added } = buildEnvironment({ base: {}, given: { PAGER: 'less' } })
    expect(added).toContain('TERM')
    expect(added).not.toContain('PAGER')
  })
})

describe('the locale', () => {
  test.each([
    ['none', {}, { LANG: 'C.UTF-8' }],
    ['C', { LANG: 'C' }, { LANG: 'C.UTF-8' }],
    ['an empty one', { LANG: '', LC_ALL: '' }, { LANG: 'C.UTF-8' }],
    ['LC_ALL that decides', { LC_ALL: 'POSIX', LANG: 'de_DE.UTF-8' }, { LC_ALL: 'C.UTF-8', LANG: 'de_DE.UTF-8' }],
    [
      'LC_CTYPE that decides',
      { LC_CTYPE: 'de_DE.ISO-8859-1', LANG: 'de_DE.UTF-8' },
      { LC_CTYPE: 'C.UTF-8', LANG: 'de_DE.UTF-8' },
    ],
    ['UTF-8 already', { LANG: 'de_DE.utf8', LC_TIME: 'C' }, { LANG: 'de_DE.utf8', LC_TIME: 'C' }],
  ])('%s', (_, base, expected) => {
    const locale = Object.entries(env(base)).filter(([name, value]) => /^(?:LANG|LC_)/.test(name) && value !== '')
    expect(Object.fromEntries(locale)).toEqual(expected)
  })
})
