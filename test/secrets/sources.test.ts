import { describe, expect, test } from 'vitest'
import { RefStore } from '../../src/secrets/ref-store.js'
import { isSecretName, type SecretSource } from '../../src/contract/secret.js'
import { environmentSource, fetchValues, firstOf } from '../../src/secrets/sources.js'
import { findTokens } from '../../src/secrets/deliver/tokens.js'

const text = (bytes: Uint8Array | undefined) => (bytes ? Buffer.from(bytes).toString() : undefined)

describe('tokens', () => {
  test('REF-01: both kinds are found with their places', () => {
    const command = 'a {{secret:api-key_1.v2}}{{decrypt:uuid-123}} b'
    const tokens = findTokens(command)
    expect(tokens.map(({ kind, name }) => [kind, name])).toEqual([
      ['secret', 'api-key_1.v2'],
      ['decrypt', 'uuid-123'],
    ])
    for (const token of tokens) expect(command.slice(token.start, token.end)).toBe(token.text)
  })

  test('REF-04: what is malformed is text', () => {
    expect(
      findTokens(
        '{{secret:}} {{ secret:x }} {{secret:x} {secret:x}} {{SECRET:x}} {{secret:a b}} {{secret:$(id)}} {{secret:a\n}} {{other:x}} {{secret:"x"}}',
      ),
    ).toEqual([])
    expect(findTokens('{{{secret:x}}}').map(({ start }) => start)).toEqual([1])
    expect(findTokens('{{secret:{{secret:x}}}}').map(({ name }) => name)).toEqual(['x'])
  })

  test('a name fits a token or is refused', () => {
    expect(['a', 'api-key', 'prod/db:2', 'a.b@c', 'x'.repeat(255)].every(isSecretName)).toBe(true)
    expect(['', '-a', 'a b', 'a}', "a'", 'ä', 'x'.repeat(256), 'a\n'].some(isSecretName)).toBe(false)
  })
})

describe('RefStore', () => {
  test('keeps and gives copies, by name or by token', () => {
    const store = new RefStore()
    const value = Buffer.from('value')
    store.set('{{decrypt:uuid-123}}', value)
    store.set('api-key', 'other')
    value.fill(0)
    const got = store.get('decrypt:uuid-123')
    got?.fill(0)
    expect([
      text(store.get('{{decrypt:uuid-123}}')),
      text(store.get('{{secret:api-key}}')),
      store.get('uuid-123'),
    ]).toEqual(['value', 'other', undefined])
    expect(store.refs()).toEqual(['decrypt:uuid-123', 'secret:api-key'])
  })

  test('delete and clear forget', async () => {
    const store = new RefStore()
    store.set('a', 'x')
    store.set('b', 'y')
    expect([store.delete('a'), store.delete('a'), store.has('b')]).toEqual([true, false, true])
    store.clear()
    expect([await store.lookup('secret', 'b'), await store.names()]).toEqual([undefined, []])
  })

  test('a lookup that is under way keeps its copy when the value is replaced', async () => {
    const store = new RefStore()
    store.set('a', 'old-value')
    const pending = store.lookup('secret', 'a')
    store.set('a', 'new-value')
    store.clear()
    expect(text(await pending)).toBe('old-value')
  })

  test('names of object properties are ordinary names', () => {
    expect(new RefStore().get('__proto__')).toBeUndefined()
  })
})

describe('sources', () => {
  test('the first that knows a name wins', async () => {
    const [one, two] = [new RefStore(), new RefStore()]
    one.set('a', 'from one')
    two.set('a', 'from two')
    two.set('b', 'only two')
    const both = firstOf([one, two])
    expect([
      text(await both.lookup('secret', 'a')),
      text(await both.lookup('secret', 'b')),
      await both.lookup('secret', 'c'),
    ]).toEqual(['from one', 'only two', undefined])
    expect(await both.names?.()).toEqual(['a', 'b'])
  })

  test('of the environment only what is mapped can be reached', async () => {
    const source = environmentSource({ token: 'CI_TOKEN', gone: 'NOT_SET' }, { CI_TOKEN: 'tök', HOME: '/root' })
    expect([
      text(await source.lookup('secret', 'token')),
      await source.lookup('secret', 'HOME'),
      await source.lookup('secret', 'gone'),
      await source.lookup('decrypt', 'token'),
      await source.lookup('secret', 'toString'),
    ]).toEqual(['tök', undefined, undefined, undefined, undefined])
  })

  test('each value of a command is fetched once', async () => {
    const asked: string[] = []
    const source: SecretSource = {
      lookup: async (kind, name) => {
        asked.push(`${kind}:${name}`)
        return name === 'x' ? Buffer.from('v') : undefined
      },
    }
    const command = '{{secret:x}} {{secret:x}} {{decrypt:x}} {{secret:y}}'
    const lookup = await fetchValues(command, source)
    expect(asked).toEqual(['secret:x', 'decrypt:x', 'secret:y'])
    expect(findTokens(command).map((token) => text(lookup(token)))).toEqual(['v', 'v', 'v', undefined])
  })
})
