/**
 * For what may be gone, closed or another user's by the time it is asked for: what `act` gives, or
 * `instead` where it throws.
 */
export function attempt<T, U = undefined>(act: () => T, instead?: U): T | U {
  try {
    return act()
  } catch {
    return instead as U
  }
}
