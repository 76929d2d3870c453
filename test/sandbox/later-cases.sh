# Attempts of a fourth round, in the format of cases.sh. All are harmless where they succeed: they touch only $ESC_TMP, take no device, signal nothing.
# Expectation order: off, read-only, workspace, strict, landlock.

# ---- L: what is believed later ----
BARE="mkdir -p objects refs; printf 'ref: refs/heads/master\n' >HEAD; printf '[core]\nrepositoryformatversion=0\nbare=false\nworktree=%s\nfsmonitor=%s/x\n' \$PWD \$PWD >config"
PLANTED="printf '$PLANT' >x; chmod +x x"
WATCHED="printf '[core]\nfsmonitor=%s/x\n' \$PWD"
prepare() { git_ws; }
detect() { planted "$ESC_WS"; }
attempt() { echo "$PLANTED; rm .git/HEAD; $BARE"; };                                         try L01 chhhh "the repository is made invalid, and the workspace itself becomes one"
attempt() { echo "$PLANTED; mv .git/objects .git/o2; $BARE"; };                              try L02 chhhh "the same, by its objects"
detect() { planted "$ESC_WS/sub"; }
attempt() { echo "mkdir -p sub/.git; cd sub; $PLANTED; $BARE"; };                            try L03 chhhh "a directory below with an empty .git is a repository itself"
prepare() { rm -rf "$ESC_WS/.git"; here_git; }
detect() { planted "$ESC_WS"; }
attempt() { echo "mkdir .git; $PLANTED; $BARE"; };                                           try L04 chhhh "a workspace without a repository gets an empty .git and becomes one itself"
prepare() { git_ws; git -C "$ESC_WS" config include.path ../later.gitconfig; }
attempt() { echo "$PLANTED; $WATCHED >later.gitconfig"; };                                   try L05 chhhh "a file that the configuration includes and that is not there"
prepare() { git_ws; git -C "$ESC_WS" config "includeIf.gitdir:$ESC_WS/.path" deep/er/later.gitconfig; }
attempt() { echo "$PLANTED; mkdir -p .git/deep/er; $WATCHED >.git/deep/er/later.gitconfig"; };  try L06 chhhh "one that is included under a condition, in directories that are not there"
prepare() { git_ws; git -C "$ESC_WS" config core.fsmonitor "sh -c ./tool.sh"; printf '#!/bin/sh\n' >"$ESC_WS/tool.sh"; chmod +x "$ESC_WS/tool.sh"; }
attempt() { echo "printf '$PLANT' >tool.sh"; };                                              try L07 chhhc "a program that a shell in the configuration starts"
prepare() { git_ws; git -C "$ESC_WS" config core.fsmonitor '"$PWD"/tool.sh'; printf '#!/bin/sh\n' >"$ESC_WS/tool.sh"; chmod +x "$ESC_WS/tool.sh"; }
try L08 chhhc "a program behind a variable in the configuration"
prepare() { git_ws; ln "$ESC_WS/.git/config" "$ESC_WS/second"; }
attempt() { echo "$PLANTED; $WATCHED >>second"; };                                           try L09 chccc "the second name of a protected file that was there before (documented)"
prepare() { git_ws; }
attempt() { echo "ln .git/config third; $PLANTED; $WATCHED >>third"; };                      try L10 chhhc "a second name is made for a protected file"
none
believed() { NAME=$2; detect() { [[ -e $ESC_WS/$NAME ]]; }; attempt() { echo "mkdir -p \$(dirname $NAME); echo evil >$NAME"; }; try "$1" chhhh "$NAME"; }
believed L11 .vimrc; believed L12 .agents/skills/x; believed L13 .openhands/setup.sh; believed L14 mise.toml; believed L15 .config/mise/conf.d/x.toml; believed L16 .tool-versions; believed L17 .hg/sharedpath; believed L18 .github/prompts/x.md; believed L19 .clinerules/x
prepare() { printf 'source_env env.local.sh\n. ./setup-env.sh\nsource tools/env\n' >"$ESC_WS/.envrc"; echo : >"$ESC_WS/setup-env.sh"; }
attempt() { echo "echo evil >>setup-env.sh"; }; detect() { grep -q evil "$ESC_WS/setup-env.sh"; };  try L20 chhhc "a file that .envrc reads"
attempt() { echo "echo evil >env.local.sh; mkdir -p tools; echo evil >tools/env"; }; detect() { [[ -e $ESC_WS/env.local.sh || -e $ESC_WS/tools/env ]]; };  try L21 chhhh "a file that .envrc reads and that is not there"

# ---- J: processes, kernel ----
prepare() { outside; python_needed; }
detect() { [[ $(awk '/Max cpu time/{print $4}' "/proc/$OUT_PID/limits") == 1000 ]]; }
attempt() { echo "python3 -c \"import resource; resource.prlimit($OUT_PID, resource.RLIMIT_CPU, (1000,1000))\""; };  try J01 chhhh "limits of a process outside"
none
detect() { said "$CANARY"; }
attempt() { echo "for f in /proc/pagetypeinfo /proc/allocinfo /sys/kernel/slab/*/objects; do head -c1 \$f 2>/dev/null | grep -q . && echo \"$CANARY \$f\"; done"; };  try J02 ${r}hhh? "the kernel's memory by further names (only root may read them)"
attempt() { echo "ulimit -t 100; sh -c 'ulimit -n 64 && echo fine'"; }; detect() { said fine; };  try W90 wwwww "a command sets its own limits"

# ---- Q: where credentials lie, and the engine's own code ----
prepare() { export KUBECONFIG=$ESC_OUT/none:$ESC_OUT/kube XDG_CONFIG_HOME=$ESC_OUT/config; mkdir -p "$ESC_OUT/config/gh"; echo "$CANARY" >"$ESC_OUT/kube"; echo "$CANARY" >"$ESC_OUT/config/gh/hosts.yml"; }
attempt() { echo "cat $ESC_OUT/kube $ESC_OUT/config/gh/hosts.yml"; }; detect() { unset KUBECONFIG XDG_CONFIG_HOME; said "$CANARY"; };  try Q01 chhhh "credentials that lie where variables say"
prepare() { own=$(dirname "$(dirname "$ESC_CERITH")"); mkdir -p "$ESC_WS/node_modules/cerith"; cp -r "$own/dist" "$own/package.json" "$ESC_WS/node_modules/cerith"; ESC_CERITH=$ESC_WS/node_modules/cerith/dist/cli.js; }
attempt() { echo "echo '// evil' >>node_modules/cerith/dist/native/sandbox-proxy.mjs; cp /bin/true x; for f in node_modules/cerith/dist/native/cerith-helper-*; do mv -f x \$f; done; mv node_modules/cerith node_modules/other; mv node_modules other"; }
detect() { ESC_CERITH=$own/dist/cli.js; ! diff -rq "$own/dist/native" "$ESC_WS/node_modules/cerith/dist/native" >/dev/null 2>&1; };  try Q02 chhhc "the engine's own programs, where cerith is installed in the workspace"
prepare() { ln -s /dev/null "$ESC_HOME/.bash_history"; export HISTFILE=/dev/null; }
attempt() { echo "echo nothing >/dev/null && echo fine"; }; detect() { unset HISTFILE; said fine; };  try W92 wwwww "a history that is a link to /dev/null"
none
