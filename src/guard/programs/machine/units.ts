/** The lines of a service unit that are run; `%h` is the home of its user. */
export function unitCommands(text: string, home = '~'): string[] {
  return [...text.replace(/\\\n/g, ' ').matchAll(/^\s*Exec\w*\s*=\s*[-@+!:|]*(.*)$/gm)].map(([, line = '']) =>
    line.replace(/%([h%])/g, (_, letter: string) => (letter === 'h' ? home : '%')),
  )
}
