/**
 * Output of a program for another terminal than its own: colours and cursor stay, what acts on
 * the terminal or asks it something goes.
 */

/**
 * Of OSC sequences only the title and links are about looks; a title is taken out, because it
 * names a window that is not the program's.
 */
const ACTING =
  // oxlint-disable-next-line no-control-regex
  /\x1b\](?!8;)[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P^_X][^\x1b]*\x1b\\|\x1b\[[?>=]?[\d;]*(?:c|n|x|\$p)|\x1b\[1[4-9]t|\x1b\[2[01]t|\x1bZ|\x05/g

export function withoutActions(text: string): string {
  return text.replaceAll(ACTING, '')
}
