/**
 * Setup of the conformance run: what cannot hold through a link stands in one list with its reasons, and is run all the
 * same. An entry that passes, or that names no test, is an error: the list says what is true today.
 */
import { relative } from 'node:path'
import { afterAll, beforeEach, type RunnerTask, type RunnerTestFile } from 'vitest'
import { NOT_THROUGH_FRAMES, type Exception } from './not-through-frames.js'

const met = new Set<Exception>()
let current: RunnerTestFile | null = null

beforeEach((context) => {
  const { task } = context
  current = task.file
  const title = titleOf(task)
  for (const entry of exceptionsOf(task.file)) {
    if (!title.includes(entry.title)) continue
    met.add(entry)
    if (entry.isLeftOut) context.skip(entry.why)
    ;(task as { fails?: boolean }).fails = true
  }
})

afterAll(() => {
  // A run of some tests only says nothing about the others.
  if (!current || !wasRun(current)) return
  const stale = exceptionsOf(current).filter((entry) => !met.has(entry))
  if (stale.length > 0) throw new Error(`no test has the title ${stale.map(({ title }) => title).join('; ')}`)
})

function exceptionsOf(file: RunnerTestFile): readonly Exception[] {
  return NOT_THROUGH_FRAMES[relative(`${import.meta.dirname}/..`, file.filepath)] ?? []
}

function titleOf(task: RunnerTask): string {
  return task.suite ? `${titleOf(task.suite)} > ${task.name}` : task.name
}

function wasRun(task: RunnerTask): boolean {
  return 'tasks' in task ? task.tasks.every(wasRun) : task.mode !== 'skip'
}
