/** Tables of names, written as a text with many to a line: `nameList('tar cpio pax')`. */
export function nameList(text: string): string[] {
  return text.trim().split(/\s+/)
}

export function nameSet(text: string): ReadonlySet<string> {
  return new Set(nameList(text))
}
