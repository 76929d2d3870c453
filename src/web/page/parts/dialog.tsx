/** A dialog over the page: the keyboard stays in it, Escape and a click beside it close it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export function Dialog({ title, close, children }: { title: string; close: () => void; children: ComponentChildren }) {
  const place = useRef<HTMLDialogElement>(null)
  useEffect(() => place.current?.showModal(), [])
  return (
    <dialog
      ref={place}
      aria-label={title}
      onClose={close}
      onClick={(event) => event.target === place.current && place.current?.close()}
    >
      <div class="inside">
        <h2>{title}</h2>
        {children}
        <button onClick={() => place.current?.close()}>Close</button>
      </div>
    </dialog>
  )
}
