/** Text of others, shown to a person: what is seen must be what is there. Used by terminals and by the page. */

/** Control, direction and zero-width characters, and those that look like nothing. Line feeds and tabs are left. */
export const HIDDEN =
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0d\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}\\u{e0100}-\\u{e01ef}]'

const EACH = new RegExp(HIDDEN, 'gu')

/** The text with hidden characters as escapes: `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(EACH, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
