/** The name that both ends of the live socket know. */
export const SOCKET_NAME = 'live'
