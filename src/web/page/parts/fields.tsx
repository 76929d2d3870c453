/** Small parts of views: a field to search in, a choice, a button that looks like a link, words where nothing is. */
import type { ComponentChildren } from 'preact'

interface Search {
  readonly id: string
  /** Read out by screen readers, and shown in the empty field where `hint` is not given. */
  readonly label: string
  readonly hint?: string
  readonly value: string
  readonly set: (value: string) => void
  readonly onFocus?: () => void
  readonly type?: 'search' | 'text'
}

export function Field({ id, label, hint = label, value, set, onFocus, type = 'search' }: Search) {
  return (
    <>
      <label class="hide" for={id}>
        {label}
      </label>
      <input
        id={id}
        type={type}
        // Without it the types of preact want to know which of the two it is.
        list={undefined}
        placeholder={hint}
        value={value}
        onInput={(event) => set((event.target as HTMLInputElement).value)}
        onFocus={onFocus}
      />
    </>
  )
}

interface Choice {
  readonly label: string
  readonly value: string | number
  readonly set: (value: string) => void
  /** Each as it is shown, and its value. */
  readonly of: readonly (readonly [string, string | number])[]
}

export function Choose({ label, value, set, of }: Choice) {
  return (
    <select aria-label={label} value={value} onChange={(event) => set((event.target as HTMLSelectElement).value)}>
      {of.map(([name, each]) => (
        <option value={each}>{name}</option>
      ))}
    </select>
  )
}

export function LinkButton({ act, children }: { act: () => void; children: ComponentChildren }) {
  return (
    <button class="plain underline" onClick={act}>
      {children}
    </button>
  )
}

interface EmptyOf {
  readonly title: string
  readonly children: ComponentChildren
  readonly close?: () => void
}

export function Empty({ title, children, close }: EmptyOf) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      <span>{children}</span>
      {close && (
        <p>
          <button onClick={close}>Back to the list</button>
        </p>
      )}
    </div>
  )
}
