/** Variables of a command in a room: where temporary files, caches and the way out are. */
import type { SandboxNetwork, SandboxProfile } from '../contract/sandbox.js'

export const PROXY_PORT = 3128

export function roomEnvironment(
  profile: SandboxProfile,
  network: SandboxNetwork,
  cacheDir: string,
): Readonly<Record<string, string>> {
  // Where nothing may be written but /tmp, caches are as short-lived as the room.
  const cache = profile === 'read-only' ? '/tmp/.cache' : cacheDir
  return {
    TMPDIR: '/tmp',
    XDG_CACHE_HOME: `${cache}/xdg`,
    npm_config_cache: `${cache}/npm`,
    YARN_CACHE_FOLDER: `${cache}/yarn`,
    PIP_CACHE_DIR: `${cache}/pip`,
    CARGO_HOME: `${cache}/cargo`,
    GOMODCACHE: `${cache}/go-mod`,
    GOCACHE: `${cache}/go-build`,
    CERITH_SANDBOX_PROFILE: profile,
    ...(network === 'allow-list' ? PROXY : {}),
  }
}

const HTTP = `http://127.0.0.1:${PROXY_PORT}`
const SOCKS = `socks5h://127.0.0.1:${PROXY_PORT}`
const LOCAL = 'localhost,127.0.0.1,::1'
const PROXY: Readonly<Record<string, string>> = {
  http_proxy: HTTP,
  https_proxy: HTTP,
  all_proxy: SOCKS,
  no_proxy: LOCAL,
  HTTP_PROXY: HTTP,
  HTTPS_PROXY: HTTP,
  ALL_PROXY: SOCKS,
  NO_PROXY: LOCAL,
  npm_config_proxy: HTTP,
  npm_config_https_proxy: HTTP,
  NODE_USE_ENV_PROXY: '1',
}
