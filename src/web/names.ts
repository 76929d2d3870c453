/**
 * The names under which the page can be reached: a fresh one per start, loopback, and other
 * machines' way to it where that was allowed.
 */
import { networkInterfaces } from 'node:os'
import { bracketed, isLoopback } from '../os/peer/tcp.js'

/**
 * `shown` stands in links. On loopback it is the fresh name: what an earlier server on the same
 * port left in the browser (a service worker) does not know it.
 */
export function reachableNames(host: string, fresh: string): { shown: string; allowed: readonly string[] } {
  const near = [fresh, '127.0.0.1', 'localhost', '[::1]']
  if (isLoopback(host)) return { shown: fresh, allowed: near }
  const isAny = host === '0.0.0.0' || host === '::'
  const others = isAny ? ownAddresses() : [bracketed(host)]
  return { shown: others[0] ?? fresh, allowed: [...near, ...others] }
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces())
    .flat()
    .filter((each) => each !== undefined && !each.internal)
    .map((each) => bracketed(each!.address))
}
