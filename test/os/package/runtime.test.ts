/** Runtimes other than Node are refused with words, before anything was started. */
import { expect, test } from 'vitest'
import { checkRuntime } from '../../../src/os/package/runtime.js'

test('Node is taken', () => expect(() => checkRuntime({ node: '20.19.0', v8: '11' })).not.toThrow())

test.each([
  ['Bun', { node: '24.3.0', bun: '1.4.4' }, 'this is Bun 1.4.4'],
  ['Deno', { node: '24.2.0', deno: '2.9.6' }, 'this is Deno 2.9.6'],
])('%s pretends to be Node and is refused by its own name', (_name, versions, said) => {
  expect(() => checkRuntime(versions)).toThrow(said)
})
