/**
 * The variables through which another program's code runs, or another file is read, before or
 * instead of what was asked for.
 */

/**
 * `hook`: a loader, shell, interpreter or tool runs what it names. Never handed on, not even when given for one call.
 * `redirect`: it moves where a tool looks (modules, repositories, caches, names). Dropped when
 * inherited; one that is given for a single call is wanted.
 */
export type HookKind = 'hook' | 'redirect'

/**
 * What a variable's name can do to the programs started with it, or null. Names are exact:
 * lower-case spellings have no effect on Linux.
 */
export function hookOf(name: string): HookKind | null {
  if (isStartHook(name) || HOOKS.has(name) || HOOK_PATTERNS.test(name) || NPM_HOOKS.test(name)) return 'hook'
  if (REDIRECTS.has(name) || REDIRECT_PATTERNS.test(name)) return 'redirect'
  return null
}

/**
 * The dynamic loader or a shell runs what it names when a program or a shell starts: the start
 * of a new shell must not depend on it.
 */
export function isStartHook(name: string): boolean {
  return START_HOOKS.has(name) || START_PATTERNS.test(name)
}

/**
 * An exported function in the old spelling, where any name would do. Bash no longer takes it;
 * other shells and old ones may.
 */
export function isFunctionDefinition(value: string): boolean {
  return /^\s*\(\)\s*\{/.test(value)
}

const START_PATTERNS = new RegExp(
  [
    '^LD_', // the ELF loader's family grows; LDFLAGS and LD itself are a linker's settings and stay
    '^_?RLD', // IRIX and Tru64
    '^LDR_', // AIX
    '^DYLD_',
    '^__XPC_DYLD_',
    '^BASH_FUNC_',
    '^__BASH_FUNC<', // the spelling of an early fix
  ].join('|'),
)

const HOOK_PATTERNS = new RegExp(
  [
    START_PATTERNS.source,
    '^GIT_CONFIG(_|$)', // any configuration at all, and core.fsmonitor runs on `git status`
    '^(CORECLR|COR|DOTNET|COMPlus)_(ENABLE_)?PROFIL',
    '^ERL_(A|Z)?FLAGS$|^ERL_\\w+_FLAGS$|^ELIXIR_ERL_OPTIONS$',
    '^LUA_INIT(_|$)',
    '^CARGO_TARGET_\\w+_(RUNNER|LINKER)$',
    '^CMAKE_\\w+_COMPILER_LAUNCHER$',
  ].join('|'),
)

/** npm reads its settings from the environment in any case: the shell of scripts, options for node, programs to run. */
const NPM_HOOKS =
  /^npm_config_(?:script[-_]shell|shell|node[-_]options|git|editor|viewer|init[-_]module|userconfig|globalconfig|node[-_]gyp|onload[-_]script|browser)$/i

const START_HOOKS = names(`
  loader and C library
    LIBPATH SHLIB_PATH GCONV_PATH GLIBC_TUNABLES MALLOC_TRACE GETCONF_DIR OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES
    AUTHSTATE
  shells
    BASH_ENV ENV SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS4 BASH_XTRACEFD BASH_LOADABLES_PATH ZDOTDIR
`)

const HOOKS = names(`
  shells
    IFS BASH_COMPAT FPATH NULLCMD READNULLCMD TMPPREFIX FCEDIT
  interpreters
    NODE_OPTIONS NODE_REPL_EXTERNAL_MODULE ELECTRON_RUN_AS_NODE BUN_CONFIG_PRELOAD BUN_INSPECT_PRELOAD BUN_OPTIONS
    DENO_V8_FLAGS
    PERL5OPT PERL5DB PERL5DBCMD PERLIO_DEBUG PERL5SHELL RUBYOPT RUBYSHELL JRUBY_OPTS
    PYTHONSTARTUP PYTHONBREAKPOINT PYTHONINSPECT PYTHONEXECUTABLE PYTHONWARNINGS PYTHONHOME PYTHONUSERBASE
    PYTHONPLATLIBDIR
    JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_JAVAC_OPTIONS IBM_JAVA_OPTIONS
    DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE PHPRC PHP_INI_SCAN_DIR
    R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER JULIA_LOAD_PATH JULIA_DEPOT_PATH TCLLIBPATH AWKPATH AWKLIBPATH
    VIMINIT EXINIT MYVIMRC GVIMINIT EMACSLOADPATH
  tools that run a program or load a plugin named by a variable
    GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS
    SUDO_ASKPASS
    LESSOPEN LESSCLOSE LESSKEY LESSKEYIN LESSKEY_CONTENT MAKEFILES TAR_OPTIONS ZIPOPT UNZIPOPT UNZIP ZIPINFO ZIPINFOOPT
    RSYNC_RSH RSYNC_CONNECT_PROG CVS_RSH CVS_SERVER SVN_SSH HGRCPATH HGMERGE BZR_SSH RSH
    RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTDOC CARGO_BUILD_RUSTC CARGO_BUILD_RUSTC_WRAPPER
    CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTDOC CCACHE_PREFIX CCACHE_PREFIX_CPP CCACHE_COMPILER
    GCC_EXEC_PREFIX COMPILER_PATH CONFIG_SITE CONFIG_SHELL
    WGETRC CURL_HOME SCREENRC MAILCAPS KUBECTL_EXTERNAL_DIFF TF_CLI_CONFIG_FILE HELM_PLUGINS PACKER_PLUGIN_PATH
    ANSIBLE_CONFIG GTK_MODULES GIO_EXTRA_MODULES
`)

const REDIRECT_PATTERNS = /^(?:CGO_\w*FLAGS|KRB5_CONFIG\w*)$/

const REDIRECTS = names(`
  module search paths, and options of build tools that may name an agent or a plugin
    PYTHONPATH NODE_PATH PERL5LIB PERLLIB RUBYLIB LUA_PATH LUA_CPATH GUILE_LOAD_PATH GUILE_LOAD_COMPILED_PATH
    ERL_LIBS R_LIBS R_LIBS_USER R_LIBS_SITE PYTEST_PLUGINS PYTEST_ADDOPTS
    JAVA_OPTS JAVA_OPTIONS MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS ANT_OPTS ANT_ARGS SBT_OPTS CATALINA_OPTS
  the C library: name service, messages, locales, terminals
    LOCALDOMAIN RES_OPTIONS HOSTALIASES RESOLV_HOST_CONF RESOLV_ADD_TRIM_DOMAINS RESOLV_OVERRIDE_TRIM_DOMAINS
    RESOLV_SERV_ORDER RESOLV_SPOOF_CHECK RESOLV_MULTI NIS_PATH NLSPATH LOCPATH PATH_LOCALE I18NPATH
    TERMINFO TERMINFO_DIRS TERMPATH TERMCAP KRB5_KTNAME MALLOC_CHECK_ VAR_ACE USR_ACE DLC_ACE SSLKEYLOGFILE
  shells
    CDPATH GLOBIGNORE EXECIGNORE TMOUT
  git pointed elsewhere or asking a person; make's flags, which name descriptors of a make that is not there;
  build flags that can name programs
    GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
    GIT_NAMESPACE
    GIT_EDITOR GIT_SEQUENCE_EDITOR
    MAKEFLAGS MFLAGS GNUMAKEFLAGS GOFLAGS
`)

/** A table of names under headings: the deeper lines hold the names. */
function names(table: string): ReadonlySet<string> {
  return new Set(
    table
      .split('\n')
      .filter((line) => line.startsWith('    '))
      .flatMap((line) => line.trim().split(/\s+/)),
  )
}
