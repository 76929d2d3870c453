/**
 * OpenTelemetry spans beside the audit log, when the host traces; nothing is loaded and nothing
 * is done when it does not.
 */
import type { AuditLog } from './log.js'

/** The few calls that are used of `@opentelemetry/api`. */
interface Api {
  readonly SpanStatusCode: { readonly ERROR: number }
  readonly trace: {
    getTracer(name: string): {
      startSpan(name: string, options: object): { setStatus(status: { code: number }): void; end(at: Date): void }
    }
  }
}

/** The api registers what the host has set up under this name; without it every span would be thrown away. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1')

interface Entry {
  readonly at?: number
  readonly durationMs?: number
  readonly kind?: string
  readonly status?: string
}

export function withSpans(log: AuditLog): AuditLog {
  let api: Promise<Api | null> | null = null
  return {
    write(entry) {
      log.write(entry)
      if (!(REGISTERED in globalThis)) return
      api ??= load()
      void api.then((found) => found && trace(found, entry as Entry))
    },
    started: (entry) => log.started(entry),
    flush: () => log.flush(),
    close: async () => {
      await api
      await log.close()
    },
  }
}

function load(): Promise<Api | null> {
  const name = '@opentelemetry/api'
  return import(name).catch(() => null) as Promise<Api | null>
}

function trace({ trace: tracing, SpanStatusCode }: Api, entry: Entry): void {
  const { at = Date.now(), durationMs = 0, kind = 'run', status } = entry
  const attributes = Object.fromEntries(
    Object.entries(entry)
      .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
      .map(([name, value]) => [`cerith.${name}`, value as string | number | boolean]),
  )
  const span = tracing.getTracer('cerith').startSpan(`cerith.${kind}`, { startTime: new Date(at), attributes })
  if (status === 'failed' || status === 'error' || status === 'timeout') span.setStatus({ code: SpanStatusCode.ERROR })
  span.end(new Date(at + durationMs))
}
