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

# ---- C: processes and the kernel ----
detect() { said "$CANARY"; }
prepare() { outside; python_needed; }
attempt() { echo "python3 -c \"
import ctypes,os,fcntl
l=ctypes.CDLL(None,use_errno=True)
u=os.open('/proc/self/ns/user',0); m=os.open('/proc/self/ns/mnt',0); p=os.open('/proc/self/ns/pid',0)
for f,c in ((u,0xb701),(u,0xb702),(m,0xb701),(p,0xb702),(m,0x8010b70a),(m,0x8010b70b),(m,0x8010b70c)):
  try: fcntl.ioctl(f,c,bytearray(64)) and print('x')
  except OSError: continue
  if c==0xb702 and f==u: print('$CANARY parent')
  if c>0x80000000 and c!=0x8010b70a: print('$CANARY other mounts')\""; };                       try C01 ?hhhh "other namespaces through ioctls of one's own"
attempt() { echo "python3 -c \"
import ctypes,os
l=ctypes.CDLL(None,use_errno=True)
for pid in (1,os.getppid()):
  f=l.syscall(434,pid,0)
  if pid==1 and f>=0:
    for n in range(8):
      if l.syscall(438,f,n,0)>=0: print('$CANARY',n)
    b=ctypes.create_string_buffer(64)
    class V(ctypes.Structure): _fields_=[('b',ctypes.c_void_p),('n',ctypes.c_size_t)]
    if l.syscall(16,1,0x4206,0,0)>0 or l.ptrace(16,1,0,0)==0 or l.ptrace(0x4206,1,0,0)==0: print('$CANARY traced')\""; };  try C02 ?hhh? "descriptors and memory of the room's first process"
prepare() { python_needed; ESC_MARK=$RANDOM; }
attempt() { echo "python3 -c \"
import ctypes,os
l=ctypes.CDLL(None)
if l.syscall(56,0x8011,0,0,0,0)==0:
  os.setsid(); os.execvp('sleep',['sleep','777$ESC_MARK'])\"; true"; }
detect() { within 20 pgrep -f "sleep 77[7]$ESC_MARK" >/dev/null && { for pid in $(pgrep -f "sleep 77[7]$ESC_MARK"); do kill -9 "$pid"; done; sleep 0.2; ! pgrep -f "sleep 77[7]$ESC_MARK" >/dev/null; }; }
try C03 ?hhh? "a child that is its watcher's (CLONE_PARENT) outlives the run"
detect() { said "$CANARY"; }
prepare() { python_needed; }
attempt() { echo "python3 -c \"
import fcntl,os
m,s=os.openpty()
for c in (0x541D,0x540E,0x5456,0x4B3A,0x5607,0x4B46,0x541C,0x4B4E):
  try: fcntl.ioctl(s,c,0); c in (0x541D,0x541C,0x5607) and print('$CANARY',hex(c))
  except OSError: pass\""; };                                                                    try C04 ?hhhh "the console of the machine through a terminal of one's own"
attempt() { echo "for n in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/self/fd/\$n ] && readlink /proc/self/fd/\$n; done | grep -vE '^(pipe:|/dev/null|/proc/)' && echo $CANARY; true"; };  try C05 ?hhhh "descriptors that were not meant for the command"
attempt() { echo "python3 -c \"
import os,ctypes
l=ctypes.CDLL(None,use_errno=True)
w=os.open('$ESC_OUT',os.O_PATH); f=os.open('$ESC_OUT/file',os.O_RDONLY)
for name,call in (('fchmodat2',lambda: l.syscall(452,w,b'file',0o777,0)),('empty',lambda: l.syscall(452,f,b'',0o777,0x1000)),('utime',lambda: l.utimensat(f,None,None,0)),('link',lambda: l.linkat(f,b'',-100,b'$ESC_WS/l',0x1000)),('link2',lambda: l.linkat(-100,b'/proc/self/fd/%d'%f,-100,b'$ESC_WS/l2',0x400)),('xattr',lambda: l.fsetxattr(f,b'user.x',b'1',1,0)),('setattr',lambda: l.syscall(469,w,b'file',b'\\\\0'*24,24,0)),('falloc',lambda: l.fallocate(f,0,0,9)),('swap',lambda: l.syscall(316,w,b'file',-100,b'$ESC_WS/a',2))):
  if call()==0: print('$CANARY',name)\""; };                                                     try C06 chhhc "a file outside is changed through descriptors that can only be read (Landlock does not see modes)"
prepare() { python_needed; }
attempt() { echo "python3 -c \"
import os
d=os.open('/',os.O_RDONLY)
for p in ('$ESC_HOME/.ssh/id_ed25519','../../../../../../../..$ESC_HOME/.ssh/id_ed25519','proc/self/root$ESC_HOME/.ssh/id_ed25519','proc/thread-self/root$ESC_HOME/.ssh/id_ed25519','proc/self/task/%d/cwd/../.ssh/id_ed25519'%os.getpid(),'proc/1/root$ESC_HOME/.ssh/id_ed25519','dev/fd/%d$ESC_HOME/.ssh/id_ed25519'%d):
  try: print(open(os.open(p,os.O_RDONLY,dir_fd=d)).read())
  except OSError: pass\""; };                                                                    try C07 chhhh "a hidden file by other ways to its name"
none
# The home is mounted a second time, as where /home is a directory of another disk, or the whole of it is at /sysroot.
prepare() {
  mkdir -p "$ESC_TMP/again"; unshare -rm mount --bind "$ESC_HOME" "$ESC_TMP/again" 2>/dev/null || { ESC_NEED="unshare"; return; }
  plain=$runner; runner=$ESC_TMP/twice.sh
  printf '#!/bin/bash\nexec unshare -rm bash -c '"'"'mount --bind "$0" "$1"; shift; exec "$@"'"'"' "%s" "%s" "%s" "$@"\n' "$ESC_HOME" "$ESC_TMP/again" "$plain" >"$runner"; chmod +x "$runner"
}
attempt() { echo "cat $ESC_TMP/again/.ssh/id_ed25519 $ESC_TMP/again/.local/state/cerith/vault; echo $CANARY >$ESC_TMP/again/.netrc"; }
detect() { runner=$plain; said "$CANARY" || [[ -e $ESC_HOME/.netrc ]]; }
try C08 chhhh "credentials and the engine's state where the home is mounted a second time"
none
