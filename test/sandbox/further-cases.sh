# Attempts of a fifth round, in the format of cases.sh. All are harmless where they succeed: they touch only $ESC_TMP, take no device, signal nothing but what the tester started.
# Expectation order: off, read-only, workspace, strict, landlock.

# ---- T: what is believed later ----
none
for one in T01:.crush/x T02:.goose/config.yaml T03:.cline/x T04:.roomodes T05:.continuerc.json T06:.copilot/mcp-config.json T07:.antigravity/x T08:.pi/settings.json T09:.vibe/config.toml T10:.qoder/x \
  T11:.github/skills/x/SKILL.md T12:.github/chatmodes/x T13:.aiassistant/x T14:.serena/project.yml T15:.shadowenv.d/500.lisp T16:.prototools T17:.flox/env/manifest.toml T18:.Rprofile T19:.iex.exs T20:.ghci \
  T21:.ocamlinit T22:.irbrc T23:.pryrc T24:.pdbrc T25:.gdbinit T26:.lldbinit T27:.pijul/config T28:.kilocodemodes T29:.idx/dev.nix T30:.warp/x; do believed "${one%%:*}" "${one#*:}"; done
older() { mkdir -p "$ESC_WS/stash/$1"; echo evil >"$ESC_WS/stash/$2"; sleep 0.2; }
prepare() { older mise mise/config.toml; }
attempt() { echo "mv stash .config"; }; detect() { [[ -e $ESC_WS/.config/mise ]]; };        try T31 chhhh "an old directory with a protected name in it is moved in"
prepare() { older a/hooks a/hooks/x; }
attempt() { echo "mkdir -p .github; mv stash/a/hooks .github/hooks"; }; detect() { [[ -e $ESC_WS/.github/hooks ]]; };  try T32 chhhh "the same, one level below"
prepare() { older hooks hooks/x; mkdir "$ESC_WS/.github"; ln -s ../stash/hooks "$ESC_WS/stash/link"; sleep 0.2; }
attempt() { echo "mv stash/link .github/hooks; mv stash/hooks stash2; mkdir stash/hooks; cp stash2/x stash/hooks"; }; detect() { [[ -e $ESC_WS/.github/hooks/x ]]; };  try T33 chhhh "an old link gets a protected name"
armed() { rm -rf "$ESC_WS/.git"; here_git; mkdir -p "$ESC_WS/a/b/c"; git init -q "$ESC_WS/a/b/c/r"; printf "$PLANT" >"$ESC_WS/x"; chmod +x "$ESC_WS/x"; git -C "$ESC_WS/a/b/c/r" config core.fsmonitor "$ESC_WS/x"; sleep 0.2; }
prepare() { armed; }
attempt() { echo "mv a/b/c/r r"; }; detect() { planted "$ESC_WS/r"; };                       try T34 chhhh "an old repository from deep below is moved up"
attempt() { echo "mv a/b/c/r/.git .git"; }; detect() { planted "$ESC_WS"; };                 try T35 chhhh "an old repository becomes the workspace's"
attempt() { echo "git init -q s; rm -rf s/.git; mv a/b/c/r/.git s/"; }; detect() { planted "$ESC_WS/s"; };  try T36 chhhh "an old repository takes the place of a new one"
attempt() { echo "git init -q .; mkdir -p .git/modules; mv a/b/c/r/.git .git/modules/r; mkdir r; echo 'gitdir: ../.git/modules/r' >r/.git"; }; detect() { planted "$ESC_WS/r"; };  try T37 chhhh "an old repository becomes a submodule"
attempt() { echo "mkdir r; ln -s ../a/b/c/r/.git r/.git"; }; detect() { planted "$ESC_WS/r"; };  try T38 chhhh "a link leads to a repository deep below"
attempt() { echo "mkdir r; echo 'gitdir: ../a/b/c/r/.git' >r/.git"; };                     try T46 chhhh "a file leads to a repository deep below"
attempt() { echo "ln -s a/b/c/r r"; };                                                       try T39 chccc "a directory that is a link to a repository deep below (documented: deeper ones are not looked for)"
prepare() { git_ws; }
attempt() { echo "mkdir -p q/.git; printf '$PLANT' >x; chmod +x x; cp -r .git/. q/.git/; rm -rf q/.git/hooks; git -C q config core.fsmonitor \$PWD/x; printf 'x' >q/.git/config.lock; chmod 000 q/.git/config.lock"; }; detect() { rm -f "$ESC_WS/q/.git/config.lock"; planted "$ESC_WS/q"; };  try T40 chhhh "a copy of the repository, with a lock on its configuration"
attempt() { echo "mkdir -p 'q
x'; printf '$PLANT' >x; chmod +x x; git init -q 'q
x'; git -C 'q
x' config core.fsmonitor \$PWD/x"; }; detect() { planted "$ESC_WS/q
x"; };                                                                                       try T41 chhhh "a repository in a directory with a line break"
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q q; git -C q config core.fsmonitor \$PWD/x; chmod 0 q/.git/config"; }; detect() { chmod 600 "$ESC_WS/q/.git/config" 2>/dev/null; planted "$ESC_WS/q"; };  try T42 chhhh "a configuration that its owner may not read"
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q q; git -C q config core.fsmonitor \$PWD/x; head -c 2000000 /dev/zero | tr '\\\\0' '#' >>q/.git/config"; }; detect() { planted "$ESC_WS/q"; };  try T43 chhhh "a configuration that is too long to be read"
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q q; mv q/.git/config q/real; printf '[core]\nfsmonitor=%s/x\n' \$PWD >>q/real; ln -s ../real q/.git/config"; }; detect() { planted "$ESC_WS/q"; };  try T44 chhhh "a configuration that is a link"
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q q; ln -s ../../q/hooks q/.git/h2; rm -rf q/.git/hooks; mkdir q/hooks; cp x q/hooks/post-index-change; ln -s ../hooks q/.git/hooks"; }; detect() { rm -f "$ESC_TMP/ran"; (cd "$ESC_WS/q" && ESC_RAN=$ESC_TMP/ran git add . ) >/dev/null 2>&1; [[ -e $ESC_TMP/ran ]]; };  try T45 chhhh "hooks of a new repository that are a link"

# ---- U: reaching out of the room ----
prepare() { python_needed; rm -f "$ESC_TMP/sock"; server unix "$ESC_TMP/sock"; }
detect() { said "$CANARY"; }
attempt() { echo "python3 -c \"import socket,os; s=socket.socket(1); d=os.open('$ESC_TMP',os.O_PATH); s.connect('/proc/self/fd/%d/sock'%d); print(s.recv(99))\""; };  try U01 chhhc "a socket through a descriptor of its directory"
attempt() { echo "ln -s $ESC_TMP/sock l; python3 -c \"import socket; s=socket.socket(1); s.connect('l'); print(s.recv(99))\""; };  try U02 chhhc "a socket through a link"
attempt() { echo "python3 -c \"import socket; s=socket.socket(1); s.connect('/proc/self/root$ESC_TMP/sock'); print(s.recv(99))\""; };  try U03 chhhc "a socket through /proc/self/root"
attempt() { echo "ln $ESC_TMP/sock h; python3 -c \"import socket; s=socket.socket(1); s.connect('h'); print(s.recv(99))\""; };  try U04 chhhh "a second name of a socket, made by the command"
prepare() { python_needed; server unix "@esc-$$"; }
attempt() { echo "python3 -c \"import socket; s=socket.socket(1); s.connect(b'\\0esc-$$'); print(s.recv(99))\""; };  try U05 chhhh "an abstract socket, once more by its bytes"
prepare() { python_needed; outside; }
attempt() { echo "python3 -c \"import os; f=os.pidfd_open($OUT_PID); print('$CANARY' if f>=0 else '')\""; };  try U06 chhhc "a descriptor of a process outside"
attempt() { echo "cat /proc/$OUT_PID/maps /proc/$OUT_PID/mem /proc/$OUT_PID/stack /proc/$OUT_PID/environ | tr '\\0' '\\n'"; };  try U07 chhhh "memory of a process outside"
attempt() { echo "python3 -c \"import ctypes; l=ctypes.CDLL(None); b=ctypes.create_string_buffer(8); class_=type('I',(ctypes.Structure,),{'_fields_':[('b',ctypes.c_void_p),('l',ctypes.c_size_t)]}); i=class_(ctypes.addressof(b),8); print('$CANARY' if l.syscall(310,$OUT_PID,ctypes.byref(i),1,ctypes.byref(i),1,0)>=0 or ctypes.get_errno()==14 else '')\""; };  try U08 ?hhhh "process_vm_readv of a process outside"
none
attempt() { echo "python3 -c \"import os,fcntl; f=os.memfd_create('x',0); os.write(f,b'#!/bin/sh\nmkdir /sys/fs/cgroup/esc.x 2>/dev/null && echo $CANARY\n'); os.chmod(f,0o755); os.execve('/proc/self/fd/%d'%f,['x'],{})\""; };  try U09 ?hhhh "a program in memory makes a control group"
attempt() { echo "for f in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/release_agent /sys/fs/cgroup/*/release_agent; do (: >>\$f) 2>/dev/null && echo $CANARY; done"; };  try U10 ${r}hhhh "control groups and their release agents can be opened for writing"
attempt() { echo "ulimit -c unlimited 2>/dev/null; (ulimit -c) ; sh -c 'ulimit -c' | grep -qx unlimited && echo $CANARY"; };  try U12 ?hhh? "core dumps without a limit"
attempt() { echo "python3 -c \"import ctypes; l=ctypes.CDLL(None,use_errno=True); r=[n for n in (425,323,321,298,250,248,246,165,155,161,272 if 0 else 308,428,442,467,500,0x40000000) if l.syscall(n,-1,0,0,0,0)>=0 or ctypes.get_errno() not in (1,38)]; print('$CANARY' if r else '', r)\""; };  try U13 ?hhhh "system calls that must not reach the kernel, in a row"
attempt() { echo "python3 -c \"import os; os.unshare(0x20000000); print('$CANARY')\"; python3 -c \"import os; os.setns(os.open('/proc/self/ns/net',0),0); print('$CANARY')\""; };  try U14 ?hhhh "namespaces by python's own words"
attempt() { echo "python3 -c \"import fcntl,os,pty; m,s=pty.openpty(); fcntl.ioctl(s,0x5412,b'x'); print('$CANARY')\""; };  try U15 ?hhhh "TIOCSTI on a terminal of its own"
attempt() { echo "find / -xdev -perm -4000 -type f 2>/dev/null | head -40 | while read f; do \"\$f\" --version </dev/null >/dev/null 2>&1; done; grep -q 'NoNewPrivs:.1' /proc/self/status || echo $CANARY; grep -E 'Cap(Eff|Prm|Inh|Amb):' /proc/self/status | grep -qv '0000000000000000' && echo $CANARY"; };  try U16 ?hhhh "set-user-id programs, and what rights are left"
attempt() { echo "env | grep -iE 'SSH_AUTH_SOCK|DBUS_SESSION|XAUTHORITY|WAYLAND|DOCKER_HOST|KUBECONFIG' | grep -q esc && echo $CANARY"; }
prepare() { export SSH_AUTH_SOCK=$ESC_TMP/esc-agent; python_needed; rm -f "$ESC_TMP/esc-agent"; server unix "$ESC_TMP/esc-agent"; }
attempt() { echo "python3 -c \"import socket,os; s=socket.socket(1); s.connect(os.environ.get('SSH_AUTH_SOCK') or '$ESC_TMP/esc-agent'); print(s.recv(99))\""; };  try U17 chhhc "the agent of ssh that a variable names"
unset SSH_AUTH_SOCK
prepare() { python_needed; mkdir -p "$ESC_HOME/.docker/run"; server unix "$ESC_HOME/.docker/run/docker.sock"; }
attempt() { echo "python3 -c \"import socket; s=socket.socket(1); s.connect('$ESC_HOME/.docker/run/docker.sock'); print(s.recv(99))\""; };  try U18 chhhc "a container engine of the user"
prepare() { python_needed; command -v unshare >/dev/null && unshare -Urn true 2>/dev/null || ESC_NEED="unshare"; [[ $ESC_NEED ]] || { server unix "$ESC_OUT/plain"; cp "$ESC_TMP/server.py" "$ESC_TMP/other.py"; background unshare -Urn python3 "$ESC_TMP/other.py" unix "$ESC_OUT/far"; for _ in {1..50}; do [[ -S $ESC_OUT/far ]] && break; sleep 0.1; done; }; }
attempt() { echo "python3 -c \"import socket; s=socket.socket(1); s.connect('$ESC_OUT/far'); print(s.recv(99))\""; };  try U19 ccchc "a socket whose listener has another network namespace (documented; strict shows no such directory)"

# ---- V: the engine itself ----
none
detect() { [[ $(cat "$ESC_OUT/file") != original ]] || [[ ! -e $ESC_OUT/secret ]]; }
attempt() { echo "for p in /dev/shm/cerith-*/*; do rm -rf \$p; ln -s $ESC_OUT \$p; done 2>/dev/null; echo x"; };  try V01 hhhhh "the engine's folders in memory become links"
attempt() { echo "mkdir -p .vscode; for i in {1..300}; do mv .vscode v2; ln -s $ESC_OUT .vscode; rm .vscode; mv v2 .vscode; done 2>/dev/null; rm -rf .vscode; ln -s $ESC_OUT .vscode"; };  try V02 hhhhh "what is set aside is a link to a directory outside"
attempt() { echo "mkfifo .envrc; ln -s $ESC_OUT/file mise.toml; python3 -c \"import socket; socket.socket(1).bind('.mcp.json')\"; mkdir -p .claude; chmod 0 .claude"; };  try V03 hhhhh "what is set aside is a pipe, a link, a socket, a closed directory"
detect() { [[ -e $ESC_WS/.envrc || -e $ESC_WS/mise.toml || -L $ESC_WS/mise.toml || -e $ESC_WS/.mcp.json || -e $ESC_WS/.claude ]]; };  try V04 chhhh "the same, still there"
attempt() { echo "(setsid bash -c 'for i in {1..200}; do mkdir -p .vscode; echo evil >.vscode/tasks.json; sleep 0.01; done' >/dev/null 2>&1 &) ; sleep 0.3"; }
detect() { sleep 1; [[ -e $ESC_WS/.vscode/tasks.json ]]; };                                  try V05 chhhh "a protected name is made again and again behind the command's end"
attempt() { echo "for i in {1..3000}; do echo '[core]' >.git/config.tmp; mv -f .git/config.tmp .git/config; done 2>/dev/null; rm -rf .git/hooks; mv .git .g2; echo '[x]' >>.git/config"; }
detect() { [[ $(cat "$ESC_WS/.git/config") != "[core]" || ! -d $ESC_WS/.git/hooks ]]; };     try V06 chhhc "a protected file is replaced three thousand times"
attempt() { echo "python3 -c \"import ctypes; l=ctypes.CDLL(None); print(l.syscall(316,-100,b'.git',-100,b'src',2))\"; python3 -c \"import ctypes; l=ctypes.CDLL(None); print(l.syscall(316,-100,b'.git/hooks',-100,b'src',2))\""; }
detect() { [[ ! -d $ESC_WS/.git/hooks || ! -e $ESC_WS/.git/config ]]; };                     try V07 chhhc "renameat2 exchanges a protected directory"
attempt() { echo "python3 -c \"
import os
d=os.open('.git',os.O_RDONLY); h=os.open('.git/hooks',os.O_RDONLY)
for f in (lambda: os.rename('config','c2',src_dir_fd=d,dst_dir_fd=d), lambda: os.open('pre-commit',os.O_CREAT|os.O_WRONLY,0o755,dir_fd=h), lambda: os.symlink('/bin/true','post-checkout',dir_fd=h), lambda: os.link('../../src','l',dst_dir_fd=h)):
    try: f()
    except OSError as e: print(e)
\""; }
detect() { [[ ! -e $ESC_WS/.git/config || -n $(ls -A "$ESC_WS/.git/hooks") ]]; };            try V08 chhhc "protected directories by descriptors"
attempt() { echo "python3 -c \"
import os,socket,array
a,b=socket.socketpair(1,1)
if os.fork()==0:
    f=os.open('$ESC_OUT/file',os.O_RDONLY); b.sendmsg([b'x'],[(1,1,array.array('i',[f]))]); os._exit(0)
m,c,_,_=a.recvmsg(1,99); f=array.array('i',c[0][2])[0]
g=os.open('/proc/self/fd/%d'%f,os.O_WRONLY|os.O_TRUNC); os.write(g,b'evil')\""; }
detect() { ! unchanged; };                                                                   try V09 chhhh "a descriptor that was passed on is opened again for writing"
attempt() { echo "python3 -c \"import os; os.setxattr('src','user.overlay.opaque',b'y'); os.setxattr('src','user.overlay.redirect',b'/../../outside')\"; cat src/file src/secret"; }; detect() { said original || said "$CANARY"; };  try V10 hhhhh "attributes of an overlay lead elsewhere, outside a try"

# ---- E: the filter by its arguments, and files that had no name ----
prepare() { python_needed; }
detect() { find "$ESC_WS" -maxdepth 1 -name 'e[0-9]' -perm /6000 | grep -q .; }
attempt() { echo "python3 - <<'P'
import os, ctypes
l = ctypes.CDLL(None); os.umask(0)
def tmp():
    f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o6755); l.linkat(-100, b'/proc/self/fd/%d' % f, -100, b'e1', 0x400)
for make in (tmp, lambda: os.open('e2', os.O_CREAT | os.O_RDWR, 0o6755), lambda: os.mknod('e3', 0o106755), lambda: l.syscall(85, b'e4', 0o6755),
    lambda: (open('e5', 'w'), l.syscall(452, -100, b'e5', 0o6755, 0)), lambda: (open('e6', 'w'), l.syscall(90, b'e6', ctypes.c_long(1 << 32 | 0o6755))),
    lambda: l.syscall(437, -100, b'e7', (ctypes.c_ulong * 3)(0o102, 0o6755, 0), 24)):
    try: make()
    except OSError: pass
P"; };                                                                                       try E01 chhhh "set-user-id by every call that makes a file, also in the upper half of an argument"
# Each call works without a sandbox, or it is not played: what the machine refuses anyway proves nothing.
prepare() { python_needed; [[ $(uname -m) == x86_64 ]] || ESC_NEED=x86
  cat >"$ESC_WS/high.py" <<'P'
import ctypes, os, pty, sys
l = ctypes.CDLL(None); high = lambda n: ctypes.c_long(1 << 32 | n)
def typed():
    try: pid, _ = pty.fork()
    except OSError: return False
    if pid == 0: os._exit(l.syscall(16, 0, high(0x5412), b'x') != 0)
    return os.waitpid(pid, 0)[1] == 0
def room():
    pid = l.syscall(56, high(0x10000011), 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    return pid > 0 and os.waitpid(pid, 0)[0] == pid
calls = {'typed': typed, 'room': room, 'kind': lambda: l.syscall(135, high(0x0400000)) >= 0}
for family, type in ((38, 5), (40, 1), (30, 5), (17, 3), (44, 3)): calls['socket%d' % family] = lambda family=family, type=type: l.syscall(41, high(family), type, 0) >= 0
print(*('got-' + name for name in sys.argv[1:] or calls if calls[name]()))
P
  [[ $ESC_NEED ]] || { possible=$(cd "$ESC_WS" && python3 high.py </dev/null 2>/dev/null); possible=${possible//got-/}; [[ $possible ]] || ESC_NEED="calls that work without a sandbox"; }; }
attempt() { echo "python3 high.py $possible"; }
detect() { if [[ $profile == off ]]; then for name in $possible; do said "got-$name" || return 1; done; else said got- || said Traceback; fi; }
try E02 chhhh "refused arguments with something in their upper half"
detect() { said "$CANARY"; }
prepare() { command -v gcc >/dev/null || ESC_NEED=gcc; [[ $(uname -m) == x86_64 ]] || ESC_NEED=x86; [[ $profile == read-only ]] && ESC_NEED="a place to compile"
printf '#include <stdio.h>\n#include <unistd.h>\nint main(int c, char **v) { long r; if (c > 1) r = syscall(0x40000000 | 39); else __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); if (r > 0) puts(v[0] + 2); }\n' >"$ESC_WS/old.c"; }
attempt() { echo "gcc -o $CANARY old.c && { ./$CANARY; ./$CANARY x; } | sed 's/^/got /'"; }; detect() { said "got $CANARY"; };  try E03 ?hhhh "calls of 32-bit and of x32 programs"
prepare() { python_needed; }
attempt() { echo "python3 - <<'P'
import os, ctypes
l = ctypes.CDLL(None); f = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o755); os.write(f, b'evil'); d = os.open('.git/hooks', os.O_PATH)
for name in (b'.git/hooks/a', b'.git/../.git/hooks/b', b'/proc/self/cwd/.git/hooks/c', b'/proc/self/fd/%d/d' % d): l.linkat(-100, b'/proc/self/fd/%d' % f, -100, name, 0x400)
os.chdir('/proc/self/fd/%d' % d); open('e', 'w')
P"; }; detect() { [[ -n $(ls -A "$ESC_WS/.git/hooks") ]]; };                                 try E04 chhhc "a file without a name is linked into the hooks"
# Priority of the processor and of input and output, policy, processors: as the kernel tells them.
manners() { python3 -c "
import ctypes, os; p=$OUT_PID; l=ctypes.CDLL(None)
print(os.getpriority(0, p), l.syscall($IOPRIO_GET, 1, p), os.sched_getscheduler(p), *sorted(os.sched_getaffinity(p)))"; }
prepare() { python_needed; outside; IOPRIO_GET=252 IOPRIO_SET=251; [[ $(uname -m) == x86_64 ]] || IOPRIO_GET=31 IOPRIO_SET=30; [[ $ESC_NEED ]] || usual=$(manners); }
attempt() { echo "python3 - <<'P'
import ctypes, os
p = $OUT_PID; l = ctypes.CDLL(None)
def tried(call, *words):
    try: call(*words)
    except OSError: pass
tried(os.setpriority, 0, p, 16); tried(os.setpriority, 1, p, 17); l.syscall($IOPRIO_SET, 1, p, 3 << 13); l.syscall($IOPRIO_SET, 2, p, 3 << 13)
tried(lambda: os.sched_setaffinity(p, list(os.sched_getaffinity(p))[:1])); tried(os.sched_setparam, p, os.sched_param(0)); tried(os.sched_setscheduler, p, os.SCHED_IDLE, os.sched_param(0))
P"; }; detect() { [[ $(manners) != "$usual" ]]; };                                           try E05 chhhh "priority, policy and processors of a process outside"
prepare() { python_needed; command -v ipcmk ipcrm >/dev/null || ESC_NEED=ipcmk; [[ $ESC_NEED ]] && return
  memory=$(ipcmk -M 4096 -p 0600 | grep -o '[0-9]*$'); queue=$(ipcmk -Q -p 0600 | grep -o '[0-9]*$')
  python3 -c "import ctypes; l=ctypes.CDLL(None); l.shmat.restype=ctypes.c_void_p; ctypes.memmove(ctypes.c_void_p(l.shmat($memory, None, 0)), b'$CANARY', ${#CANARY})"; }
attempt() { echo "python3 - <<'P'
import ctypes
l = ctypes.CDLL(None); l.shmat.restype = ctypes.c_void_p; at = l.shmat($memory, None, 0)
if at not in (None, 2 ** 64 - 1): print(ctypes.string_at(at, 30))
if l.msgctl($queue, 0, None) == 0: print('$CANARY')
P"; }; detect() { ipcrm -m "$memory" 2>/dev/null; ipcrm -q "$queue" 2>/dev/null; said "$CANARY"; };  try E06 chhhc "shared memory and queues of System V (documented: the lower tier shares them)"
attempt() { echo 'nice -n 3 ionice -c 3 taskset -c "$(taskset -pc $$ | sed "s/.*: //; s/[,-].*//")" chrt -b 0 sh -c "nice; echo fine"'; }; detect() { said fine; }
prepare() { for name in ionice taskset chrt; do command -v $name >/dev/null || ESC_NEED=$name; done; };  try W91 wwwww "a command with priority, policy and processors of its own"
