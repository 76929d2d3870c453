# Attempts of a fifth round, in the format of cases.sh. All are harmless where they succeed: they touch only $ESC_TMP, take no device, signal nothing.
# Expectation order: off, read-only, workspace, strict, landlock.

# ---- A: git, and what hooks read ----
IMPL='#!/bin/sh\nexec true hook-impl --config=.pre-commit-config.yaml\n'
config_made_evil() { grep -qs evil "$ESC_WS/.pre-commit-config.yaml"; }
detect() { config_made_evil; }
attempt() { echo "echo evil >>.pre-commit-config.yaml"; }
prepare() { git_ws; mv "$ESC_WS" "$ESC_HOME/main"; git -C "$ESC_HOME/main" worktree add -q "$ESC_WS" >/dev/null 2>&1; mkdir -p "$ESC_HOME/main/.git/hooks"; printf "$IMPL" >"$ESC_HOME/main/.git/hooks/pre-commit"; echo repos: >"$ESC_WS/.pre-commit-config.yaml"; }
try A01 chhhc "what the hook of pre-commit reads, in a worktree of a repository elsewhere"
prepare() { git_ws; mkdir -p "$ESC_WS/.githooks"; printf "$IMPL" >"$ESC_WS/.githooks/pre-commit"; git -C "$ESC_WS" config core.hooksPath .githooks; echo repos: >"$ESC_WS/.pre-commit-config.yaml"; }
try A02 chhhc "the same, where core.hooksPath says that hooks are"
prepare() { git_ws; mkdir -p "$ESC_WS/deep/er"; mv "$ESC_WS/.git" "$ESC_WS/deep/er/repo"; echo 'gitdir: deep/er/repo' >"$ESC_WS/.git"; }
detect() { planted "$ESC_WS"; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; mv deep old; mkdir deep; cp -r old/er deep/er; printf '[core]\nfsmonitor=%s/x\n' \$PWD >>deep/er/repo/config"; }
try A03 chhhc "a directory on the way of a .git file is replaced"
prepare() { git_ws; printf '[core]\nfsmonitor=./watch.sh\n' >"$ESC_HOME/.gitconfig"; printf '#!/bin/sh\nexit 1\n' >"$ESC_WS/watch.sh"; chmod +x "$ESC_WS/watch.sh"; }
attempt() { echo "printf '$PLANT' >watch.sh"; }
detect() { rm -f "$ESC_TMP/ran"; (cd "$ESC_WS" && HOME=$ESC_HOME ESC_RAN=$ESC_TMP/ran timeout 5 git status >/dev/null 2>&1); [[ -e $ESC_TMP/ran ]]; }
try A04 chhhc "a program of the workspace that git's configuration of all repositories starts"
prepare() { git_ws; }
attempt() { echo "n=\$(printf 'a%.0s' {1..235}); mkdir -p .git/branches; echo evil >.git/branches/\$n"; }
detect() { compgen -G "$ESC_WS/.git/branches/aaa*" >/dev/null && ! compgen -G "$ESC_WS/.git/branches/*quarantined*" >/dev/null; }
try A05 chhhc "an old name of a remote that is as long as a name can be"
prepare() { rm -rf "$ESC_WS/.git"; here_git; }
attempt() { echo "git init -q .; n=\$(printf 'a%.0s' {1..250}); mkdir -p .git/branches .git/hooks; echo evil >.git/branches/\$n"; }
try A06 chhhh "the same in a new repository"
# What the engine looks at are pipes and floods: the next command must begin all the same.
prepare() { rm -rf "$ESC_WS/.git"; here_git; }
attempt() { echo "mkdir -p s1 s2/.git s3/.git/hooks s4/.git/modules/m s5/.git/worktrees/w s6; mkfifo s1/.git s2/.git/config s2/.git/HEAD s3/.git/commondir s3/.git/index s4/.git/modules/m/config s5/.git/worktrees/w/gitdir s5/.git/worktrees/w/config.worktree s6/HEAD .git lefthook.yml package.json 2>/dev/null; ln -s . loop; ln -s loop/loop/.git s6/.git; true"; }
detect() { ! timeout 50 "$runner" "$profile" "echo next" 2>/dev/null | grep -q next && [[ $profile != off ]]; }
try A07 hhhhh "names that the engine reads are named pipes and loops"
prepare() { git_ws; }
attempt() { echo "git update-index --add a; python3 -c \"
import struct
open('.git/index','wb').write(b'DIRC'+struct.pack('>II',2,0xffffffff)+b'\\\\0'*4096)\"; rm -f .git/sharedindex; truncate -s 70G .git/HEAD"; }
detect() { ! timeout 50 "$runner" "$profile" "echo next" 2>/dev/null | grep -q next && [[ $profile != off ]]; }
try A08 hhhhh "an index that says more than it holds, a HEAD of 70 GB"
prepare() { git_ws; git -C "$ESC_WS" config include.path ../one/two.gitconfig; }
detect() { planted "$ESC_WS"; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; mkdir real; printf '[core]\nfsmonitor=%s/x\n' \$PWD >real/two.gitconfig; ln -s real one"; }
try A09 chhhh "a directory on the way of an included file that was not there is a link"
prepare() { git_ws; git -C "$ESC_WS" config alias.st status; git -C "$ESC_WS" config diff.x.textconv ./conv.sh; printf '#!/bin/sh\ncat "$1"\n' >"$ESC_WS/conv.sh"; chmod +x "$ESC_WS/conv.sh"; }
attempt() { echo "printf 'evil' >conv.sh; echo '* diff=x' >.gitattributes"; }
detect() { grep -q evil "$ESC_WS/conv.sh"; }
try A10 chhhc "a program that shows differences"
none
