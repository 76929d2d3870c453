/** The sockets that a process holds, as inodes. */
import { readdirSync, readlinkSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'

/** Empty when it is gone, or belongs to another user. One that is closed meanwhile is left out. */
export function socketsOf(pid: number): string[] {
  return attempt(() => readdirSync(`/proc/${pid}/fd`), []).flatMap((fd) => {
    const link = attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '')
    return /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []
  })
}
