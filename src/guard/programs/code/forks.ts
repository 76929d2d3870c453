/** Code that starts processes without end. */

/** A loop that nothing ends. */
const ENDLESS =
  /\bwhile\s*\(?\s*(?:1|True|true|:)\s*\)?|\bloop\s*(?:do|\{)|\bfor\s*\(\s*;\s*;\s*\)|\buntil\s+false\b|\bitertools\.count\b|\bwhile\s*\(?\s*fork\b|\bforever\b|\bwhile\s+True\b/

/** fork in a loop that nothing ends. */
export function forksForever(source: string): boolean {
  // A shell that leaves something in the background returns at once.
  if (ENDLESS.test(source) && /\b(?:system|execute)\s*\(?\s*["'][^"'\n]*&\s*["']/.test(source)) return true
  if (!/fork\b|\bProcess\.spawn\b|\bspawn\s*\(|\bsubprocess\b|\bPopen\b/.test(source)) return false
  if (/\bfork\b[\s();]*\bwhile\b\s*\(?\s*(?:1|true|fork)\b|\bfork\b\s*\(?\)?\s*while\s+fork/.test(source)) return true
  // The result is not even looked at: each round doubles the processes.
  if (
    /\bfor\b[^\n:{]*:\s*os\.fork\(\)\s*(?:$|[;\n#])|\[\s*os\.fork\(\)\s+for\b|(?:^|[;{])\s*fork\s*(?:\(\))?\s+for(?:each)?\b/m.test(
      source,
    )
  )
    return true
  const endless = ENDLESS.test(source)
  return (
    endless &&
    (/fork\b/.test(source) ||
      /\b(?:spawn|Popen)\w*\s*\(\s*(?:process\.execPath|process\.argv|sys\.(?:argv|executable)|__file__|\$0|\[\s*sys\.)/.test(
        source,
      )) &&
    !/\b(?:wait|waitpid|sleep|join)\b/.test(source)
  )
}
