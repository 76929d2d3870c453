import { expect, test } from 'vitest'
import { createDuplicateFolder } from '../../src/output/duplicates.js'

const fold = (pieces: readonly string[]): string => {
  const folder = createDuplicateFolder()
  return pieces.map((piece) => folder.push(piece)).join('') + folder.flush()
}

test('more than three of the same line become one and a count', () => {
  expect(fold(['a\n'.repeat(5) + 'b\n'])).toBe('a\n[the line above was repeated 4 more times]\nb\n')
})

test('three or fewer stay, and the unfinished last line too', () => {
  expect(fold(['a\na\na\nb\nb'])).toBe('a\na\na\nb\nb')
  expect(fold([''])).toBe('')
  expect(fold(['\n\n'])).toBe('\n\n')
})

test('letter by letter gives the same', () => {
  const text = 'x\n'.repeat(10) + '\n'.repeat(6) + 'tail'
  expect(fold([...text])).toBe(fold([text]))
})
