/** Words for an engine that works elsewhere: where that is, and how its link does. */

/** What is known about the place of an engine that works elsewhere. */
export interface PlaceInfo {
  /** As it was asked for, e.g. `ssh://build`. */
  readonly url: string
  readonly host: string
  readonly platform: string
  /** Changes when the machine or container was started anew or replaced. */
  readonly identity: string
  /** The far engine: a new one starts without the sessions of the one before. */
  readonly engine: string
  readonly pid: number
  /** False: another build of cerith started it, and its guard and its fixes are those of that build. */
  readonly isSameBuild: boolean
}

/** News of the link. `gone`: what was there has ended; the next call begins with an empty engine. */
export type LinkEvent =
  | { readonly kind: 'up'; readonly afterMs: number; readonly place: PlaceInfo }
  | { readonly kind: 'down'; readonly reason: string }
  | { readonly kind: 'gone'; readonly reason: string }

export interface ReachOptions {
  /** Without a link for so long the far engine closes. Default 10 minutes. */
  readonly leaseMs?: number
  /** How long a call waits for a link that is down. Default 20 seconds. */
  readonly linkWaitMs?: number
  /** Between two beats; a link that is silent for three of them is opened again. Default 5 seconds. */
  readonly beatMs?: number
  /**
   * What runs the engine there. `there`: the Node on its PATH; `send`: this one is sent along; a path: that program.
   * Default `auto`: the one that is there when it is new enough, else this one.
   */
  readonly runtime?: string
  /** Where code is kept there. Default: the first directory that may be written and executed from. */
  readonly uploadDir?: string
  /** The state directory there. Default: what `CERITH_HOME` and the home directory say there. */
  readonly stateDir?: string
  /** Further arguments of the client, e.g. `['-J', 'bastion']` or `['--kubeconfig', file]`. */
  readonly clientArgs?: readonly string[]
  /** Secrets that may be used there without asking; `*` for all. Values given to `engine.secrets` always may. */
  readonly secrets?: readonly string[]
  /**
   * Joins the far engine of this name, and leaves it running at `close`: its lease decides. Default: one of its own.
   */
  readonly keep?: string
  /** Said with the outcome of the first command. */
  readonly note?: string
  /** Labels of what is made for the URL (containers, pods). */
  readonly labels?: Readonly<Record<string, string>>
}
