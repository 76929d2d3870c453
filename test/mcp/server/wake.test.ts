/** A client is told when one of its jobs has ended or asks something. */
import { expect, test } from 'vitest'
import { scratch, stdio, structuredOf } from '../harness.js'
import { until } from '../../fixtures/until.js'

const place = scratch()

test('a job that ends, and one that waits for input, wake the client up once each', async () => {
  const host = await stdio({ era: 'legacy', dir: place.dir })
  const heard: string[] = []
  host.client.setNotificationHandler('notifications/message', ({ params }) => {
    heard.push(`${params.level} ${String(params.data)}`)
  })
  const failed = structuredOf(await host.call('Bash', { command: 'echo no; exit 3', run_in_background: true }))
  await until(() => heard.length >= 1)
  expect(heard[0]).toMatch(
    new RegExp(`^warning ${String(failed['id'])} failed \\(exit 3\\) after \\S+: echo no; exit 3$`),
  )
  const asks = structuredOf(
    await host.call('Bash', { command: 'read -p "Name? " n; echo "hi $n"', run_in_background: true, pty: true }),
  )
  await until(() => heard.length >= 2)
  expect(heard[1]).toMatch(new RegExp(`^notice ${String(asks['id'])} waits for input: "Name\\?"`))
  await host.call('SendInput', { shell_id: asks['id'], text: 'Ada', enter: true })
  await until(() => heard.some((line) => line.startsWith(`info ${String(asks['id'])} completed`)))
  expect(heard.filter((line) => line.includes('waits for input'))).toHaveLength(1)
  await host.client.close()
})
