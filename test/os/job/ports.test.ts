/**
 * Ports where there is no /proc: the words of the `netstat` of macOS, as a table written by hand has them; none was
 * seen on a Mac.
 */
import { expect, test } from 'vitest'
import { listenedIn } from '../../../src/os/job/ports.js'

const TABLE = `Active Internet connections (including servers)
Proto Recv-Q Send-Q  Local Address          Foreign Address        (state)
tcp4       0      0  127.0.0.1.5173         *.*                    LISTEN
tcp46      0      0  *.8080                 *.*                    LISTEN
tcp6       0      0  ::1.9229               *.*                    LISTEN
tcp4       0      0  192.168.1.2.52100      10.0.0.1.443           ESTABLISHED
`

test.each([
  [5173, true],
  [8080, true],
  [9229, true],
  [52100, false],
  [443, false],
  [173, false],
  [517, false],
])('port %d is listened on: %s', (port, is) => {
  expect(listenedIn(TABLE, port)).toBe(is)
})
