# The attempts. Expectation, one letter per profile: off, read-only, workspace, strict, landlock. c crossed, h held, ? either; for W: w works, b broken.
# In attempts, \$ stands for a $ that the sandboxed bash sees; the others are filled in here.
none() { prepare() { :; }; }
r=$([[ $EUID == 0 ]] && echo c || echo h)   # what only root can do, without a sandbox
outside() { background env CANARY_VALUE="$CANARY" sleep 60; OUT_PID=$!; within 50 grep -qs sleep "/proc/$OUT_PID/comm"; }
# within TENTHS COMMAND...: waits until it is true, not longer than that. soon: long only where it is expected to come true.
within() { local left=$1; shift; until "$@"; do (( left-- > 0 )) || return 1; sleep 0.1; done; }
soon() { within "$([[ $expected == c ]] && echo 80 || echo 3)" "$@"; }
# A change outside while the attempt runs: during COMMANDS in prepare, then CONDITION TEXT in the attempt, whose text begins when the
# change is made and the condition is true: when the room has covered it. Where it never does, after eight seconds all the same.
during() { rm -f "$ESC_TMP/begun"; ESC_BEGUN=begun-$RANDOM$RANDOM; background bash -c "until grep -qs $ESC_BEGUN '$ESC_TMP/out'; do sleep 0.05; done; $1
touch '$ESC_WS/changed'"; }
then_when() { echo "echo $ESC_BEGUN; until [ -e $ESC_WS/changed ]; do sleep 0.05; done; for i in {1..80}; do $1 && break; sleep 0.1; done; $2"; }
unchanged() { [[ $(cat "$ESC_OUT/file" 2>/dev/null) == original ]]; }
python_needed() { command -v python3 >/dev/null || ESC_NEED=python3; }
server() { # server KIND ADDRESS: says the canary to whoever connects
  cat >"$ESC_TMP/server.py" <<'P'
import socket, sys, os
kind, where = sys.argv[1:3]
if kind == 'tcp': s = socket.socket(); s.setsockopt(1, 2, 1); h, p = where.rsplit(':', 1); s.bind((h, int(p)))
elif kind == 'tcp6': s = socket.socket(10); s.bind(('::1', int(where)))
elif kind == 'udp': s = socket.socket(2, 2); s.bind(('127.0.0.1', int(where)))
else: s = socket.socket(1); s.bind('\0' + where[1:] if where[0] == '@' else where)
if kind == 'udp':
    open(os.environ['ESC_TMP'] + '/ready', 'w')
    data, who = s.recvfrom(100); open(os.environ['ESC_TMP'] + '/heard', 'wb').write(data); s.sendto(os.environ['CANARY'].encode(), who)
else:
    s.listen(); open(os.environ['ESC_TMP'] + '/ready', 'w')
    while True: c, _ = s.accept(); open(os.environ['ESC_TMP'] + '/heard', 'w').write('x'); c.sendall(os.environ['CANARY'].encode() + b'\n'); c.close()
P
  rm -f "$ESC_TMP/heard" "$ESC_TMP/ready"; background python3 "$ESC_TMP/server.py" "$1" "$2"; within 200 test -e "$ESC_TMP/ready" || ESC_NEED="server did not start"; }
heard() { soon test -e "$ESC_TMP/heard"; }

# ---- F: changing files outside ----
none
detect() { ! unchanged; }
attempt() { echo "echo evil >$ESC_OUT/file"; };                                             try F01 chhhh "write outside by its path"
attempt() { echo "ln -s $ESC_OUT/file ln; echo evil >ln"; };                                try F02 chhhh "write outside through a symbolic link in the workspace"
attempt() { echo "echo evil >/proc/self/root$ESC_OUT/file"; };                              try F03 chhhh "write outside through /proc/self/root"
attempt() { echo "cd /proc/self/cwd/../../outside && echo evil >file"; };                   try F04 chhhh "write outside through /proc/self/cwd/.."
attempt() { echo "ln $ESC_OUT/file hard && echo evil >hard"; };                             try F05 chhhh "hard link into the workspace, then write"
attempt() { echo "echo evil >x; mv -f x $ESC_OUT/file"; }
attempt() { echo "rm -f $ESC_OUT/file"; };                                                  try F07 chhhh "remove a file outside"
attempt() { echo "truncate -s 0 $ESC_OUT/file"; };                                          try F08 chhhh "truncate a file outside"
attempt() { echo "mount -o remount,rw,bind / ; mount -o remount,rw / ; echo evil >$ESC_OUT/file"; };     try F09 chhhh "remount the root writable"
attempt() { echo "unshare -Urm sh -c 'mount -o remount,rw,bind / ; echo evil >$ESC_OUT/file'"; };  try F10 chhhh "remount from a nested user namespace"
attempt() { echo "mkdir d; (for i in \$(seq 400); do rm -rf d; ln -s $ESC_OUT d; rm -f d; mkdir d; done) & for i in \$(seq 400); do echo evil >d/file; done 2>/dev/null; wait"; }
attempt() { echo "python3 -c \"import os; d=os.open('.',os.O_RDONLY); f=os.open('../../outside/file',os.O_WRONLY|os.O_TRUNC,dir_fd=d); os.write(f,b'evil')\""; }
attempt() { echo "for f in /proc/self/fd/*; do echo evil >\$f/../../outside/file; echo evil >\$f/../outside/file; done 2>/dev/null"; }
attempt() { echo "chmod 777 $ESC_OUT/file; touch -d 2001-01-01 $ESC_OUT/file"; }
detect() { [[ $(stat -c %a "$ESC_OUT/file") == 777 ]]; };                                   try F14 chhhc "change mode and time of a file outside (Landlock does not see it)"
attempt() { echo "echo evil >$ESC_HOME/new"; }; detect() { [[ -e $ESC_HOME/new ]]; };       try F15 chhhh "new file in the home directory"
attempt() { echo "echo evil >/dev/shm/esc.\$PPID.x; echo evil >/dev/shm/esc-marker"; }; detect() { [[ -e /dev/shm/esc-marker ]] && rm -f /dev/shm/esc-marker /dev/shm/esc.*; };  try F16 chhhh "shared memory of the machine"
attempt() { echo "echo evil >/tmp/esc-marker"; }; detect() { [[ -e /tmp/esc-marker ]] && rm -f /tmp/esc-marker; };  try F17 chhhh "the /tmp of the machine"
attempt() { echo "mknod n b 254 0 && head -c 16 n | wc -c; mknod c c 1 1 && head -c 1 c"; }; detect() { [[ -e $ESC_WS/n || -e $ESC_WS/c ]]; };  try F18 ?hhhh "make a device file (also as root)"
attempt() { echo "echo written >inside"; }; detect() { [[ -e $ESC_WS/inside ]]; };          try F19 chccc "write in the workspace (only read-only forbids it)"

# ---- R: reading what is nobody's business ----
detect() { said "$CANARY"; }
attempt() { echo "cat $ESC_HOME/.ssh/id_ed25519"; };                                        try R01 chhhh "read ~/.ssh"
attempt() { echo "cat $ESC_HOME/.aws/credentials"; };                                       try R02 chhhh "read ~/.aws"
attempt() { echo "cat $ESC_STATE/vault"; };                                                 try R03 chhhh "read the vault of the engine"
attempt() { echo "ln -s $ESC_STATE/vault v; cat v; cat /proc/self/root$ESC_STATE/vault"; };  try R04 chhhh "read the vault through links"
attempt() { echo "umount -l $ESC_STATE; umount $ESC_HOME/.ssh; unshare -Urm umount -l $ESC_STATE; unshare -Urm sh -c 'umount -l $ESC_STATE; cat $ESC_STATE/vault'; cat $ESC_STATE/vault $ESC_HOME/.ssh/id_ed25519"; };  try R05 chhhh "take the cover off"
prepare() { outside; }
attempt() { echo "cat /proc/$OUT_PID/root$ESC_STATE/vault; for p in /proc/[0-9]*; do cat \$p/root$ESC_STATE/vault; done"; }
attempt() { echo "cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep CANARY_VALUE"; };         try R07 chhhh "environment of a process outside"
# Where the machine's /proc hides what one may not trace, Landlock makes an ordinary user's own processes such.
seen=c; [[ $EUID != 0 ]] && grep -qE ' /proc proc [^ ]*hidepid=([124]|invisible|noaccess|ptraceable)' /proc/mounts && seen=h
attempt() { echo "cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep 6[0]' && echo $CANARY"; };  try R08 chhh$seen "command lines of processes outside"
prepare() { outside; command -v strace >/dev/null || ESC_NEED=strace; }
attempt() { echo "timeout 5 strace -o tr -p $OUT_PID & for i in {1..20}; do sleep 0.1; [ \$(awk '/TracerPid/{print \$2}' /proc/$OUT_PID/status 2>/dev/null || echo 0) != 0 ] && echo $CANARY && break; done; wait"; };  try R09 chhhh "attach a debugger to a process outside"
prepare() { outside; python_needed; }
attempt() { echo "python3 -c \"
import re
for l in open('/proc/$OUT_PID/maps'):
  m=re.match(r'(\\w+)-(\\w+) rw.*stack',l)
  if m: f=open('/proc/$OUT_PID/mem','rb'); f.seek(int(m[1],16)); print(f.read(int(m[2],16)-int(m[1],16)).decode('latin1'))\" | tr '\\0' '\\n' | grep -a CANARY_VALUE"; }
prepare() { background bash -c 'exec 7<"$1"; sleep 60' x "$ESC_STATE/vault"; sleep 0.6; }
attempt() { echo "for f in /proc/[0-9]*/fd/7; do cat \$f; done"; }
none
attempt() { echo "cat $ESC_OUT/secret"; };                                                  try R12 ccchc "read another directory of the user (only strict hides it)"
attempt() { echo "python3 -c \"
import ctypes,os
l=ctypes.CDLL(None,use_errno=True); b=ctypes.create_string_buffer(200); b[0]=b'\\x80'; m=ctypes.c_int()
if l.name_to_handle_at(-100,b'$ESC_WS',b,ctypes.byref(m),0)==0:
  d=os.open('/',os.O_RDONLY); f=l.open_by_handle_at(d,b,0)
  if f>=0: print('$CANARY')\""; };                                                           try R13 ${r}hhhh "open by handle (root outside only)"

# ---- P: planting what runs later, outside ----
attempt() { echo "echo evil >>$ESC_HOME/.bashrc"; }; detect() { grep -q evil "$ESC_HOME/.bashrc"; };  try P01 chhhh "shell start-up file"
attempt() { echo "printf '#!/bin/sh\nevil' >.git/hooks/post-checkout; chmod +x .git/hooks/post-checkout"; }; detect() { [[ -e $ESC_WS/.git/hooks/post-checkout ]]; };  try P02 chhhc "git hook"
attempt() { echo "git config core.hooksPath evil; printf '[core]\nfsmonitor=evil\n' >>.git/config"; }; detect() { grep -q evil "$ESC_WS/.git/config"; };  try P03 chhhc "git configuration"
attempt() { echo "mv .git old; cp -r old .git; echo evil >.git/hooks/post-checkout; echo evil >>.git/config"; }; detect() { [[ -e $ESC_WS/.git/hooks/post-checkout ]] || grep -q evil "$ESC_WS/.git/config"; };  try P04 chhhc "move .git away and make another"
attempt() { echo "rm -rf .git; mkdir -p .git/hooks; echo evil >.git/hooks/post-checkout"; }; detect() { [[ -e $ESC_WS/.git/hooks/post-checkout ]]; }
# Held on the tier without rooms too: names that appear are set aside.
attempt() { echo "mkdir -p .vscode; echo evil >.vscode/tasks.json; echo evil >.envrc; echo evil >cerith.config.json"; }; detect() { [[ -e $ESC_WS/.vscode/tasks.json || -e $ESC_WS/cerith.config.json ]]; };  try P06 chhhh "protected files that are not there yet (must at least be told and set aside)"
attempt() { echo "echo evil >node_modules/.bin/tsc"; }; detect() { [[ -e $ESC_WS/node_modules/.bin/tsc ]]; };  try P07 chccc "program in node_modules/.bin (documented: what the workspace holds is the command's)"
attempt() { echo "mkdir -p $ESC_HOME/.config/autostart; echo evil >$ESC_HOME/.config/autostart/x.desktop; echo evil >$ESC_HOME/.gitconfig"; }; detect() { [[ -e $ESC_HOME/.config/autostart/x.desktop || -e $ESC_HOME/.gitconfig ]]; }
attempt() { echo "echo evil >$ESC_STATE/approvals; mkdir -p $ESC_STATE/jobs/x"; }; detect() { [[ -e $ESC_STATE/approvals || -e $ESC_STATE/jobs/x ]]; };  try P09 chhhh "the engine's own state"
attempt() { echo "mkdir -p sub/.git/hooks; echo evil >sub/.git/hooks/post-checkout; ln -s sub s2"; }; detect() { [[ -e $ESC_WS/sub/.git/hooks/post-checkout ]]; };  try P10 chhhh "hook of a repository made below the workspace"

# ---- K: processes and the kernel ----
prepare() { outside; }
detect() { ! kill -0 "$OUT_PID" 2>/dev/null || [[ $(ps -o stat= -p "$OUT_PID") == T* ]]; }
attempt() { echo "kill -9 $OUT_PID"; };                                                     try K01 chhhh "kill a process outside"
attempt() { echo "kill -STOP $OUT_PID"; }
prepare() { outside; }
none
detect() { pgrep -f "sleep 77[7]$ESC_MARK" >/dev/null && { for pid in $(pgrep -f "sleep 77[7]$ESC_MARK"); do kill -9 "$pid"; done; true; }; }
prepare() { ESC_MARK=$RANDOM; }
attempt() { echo "(setsid nohup bash -c 'sleep 777$ESC_MARK' >/dev/null 2>&1 </dev/null &) ; env -i setsid sleep 777$ESC_MARK >/dev/null 2>&1 & sleep 0.3"; };  try K04 chhh? "a daemon outlives the run"
none
detect() { said "$CANARY"; }
prepare() { outside; }
attempt() { echo "nsenter -t $OUT_PID -m -U --preserve-credentials cat $ESC_STATE/vault; nsenter -t 1 -m cat $ESC_STATE/vault"; }
none
attempt() { echo "unshare -Ur true && echo $CANARY"; };                                     try K06 chhhh "nested user namespace (attack surface)"
attempt() { echo "[ -w /proc/sys/kernel/core_pattern ] && echo $CANARY"; };                        try K07 ${r}hhhh "core_pattern is writable (only as root without a sandbox)"
sys() { CALL=$1; prepare() { python_needed; }; attempt() { echo "python3 -c \"import ctypes; l=ctypes.CDLL(None,use_errno=True); r=l.syscall($CALL); e=ctypes.get_errno(); print('$CANARY' if r>=0 or e not in (1,38) else e)\""; }; }
sys "250,0,-3,1,0,0";                                                                       try K08 chhhh "keyring (keyctl)"
sys "321,0,0,0";                                                                            try K09 ?hhhh "bpf"
sys "425,4,0";                                                                              try K10 chhhh "io_uring"
sys "298,0,0,-1,-1,0";                                                                      try K11 chhhh "perf_event_open"
sys "323,1"
prepare() { python_needed; }
attempt() { echo "python3 -c \"
import os,fcntl,pty
m,s=pty.openpty()
if os.fork()==0:
  os.setsid(); fcntl.ioctl(s,0x540E,0); fcntl.ioctl(s,0x5412,b'x'); print('$CANARY',flush=True); os._exit(0)
os.wait()\""; };                                                                             try K13 ?hhhh "type into a terminal (TIOCSTI)"
none
attempt() { echo "grep -q 'NoNewPrivs:.0' /proc/self/status && echo $CANARY"; };            try K14 chhhh "set-user-id programs gain rights"
attempt() { echo "grep -E 'Cap(Eff|Prm):' /proc/self/status | grep -qv '0000000000000000' && echo $CANARY; awk '/CapBnd/ && \$2!=\"0000000000000000\" {print \"bounding\"}' /proc/self/status"; };  try K15 ${r}hhhh "capabilities are left (crossed only as root)"

# ---- N: network and sockets, network off ----
detect() { said "$CANARY" || heard; }
prepare() { python_needed; PORT=$((20000 + RANDOM % 9000)); server tcp 127.0.0.1:$PORT; }
attempt() { echo "exec 5<>/dev/tcp/127.0.0.1/$PORT && cat <&5"; };                          try N01 chhhh "a service on the machine's loopback (/dev/tcp)"
prepare() { python_needed; PORT=$((20000 + RANDOM % 9000)); server tcp6 $PORT; }
attempt() { echo "exec 5<>/dev/tcp/::1/$PORT && cat <&5"; };                                try N02 chhhh "the same over IPv6"
prepare() { python_needed; PORT=$((20000 + RANDOM % 9000)); server udp $PORT; }
attempt() { echo "echo leak >/dev/udp/127.0.0.1/$PORT"; };                                  try N03 chhhh "a datagram, as DNS would send it"
prepare() { python_needed; PORT=$((20000 + RANDOM % 9000)); server tcp 0.0.0.0:$PORT; ADDRESS=$(hostname -I 2>/dev/null | awk '{print $1}'); [[ $ADDRESS ]] || ESC_NEED="no address"; }
attempt() { echo "timeout 3 bash -c 'exec 5<>/dev/tcp/$ADDRESS/$PORT && cat <&5'"; }
connect() { TARGET=$1; attempt() { echo "python3 -c \"import socket; s=socket.socket(1); s.connect($TARGET); print(s.recv(99).decode())\""; }; }
prepare() { python_needed; server unix "@esc-$$"; }; connect "'\\\\0esc-$$'";               try N05 chhhh "abstract socket of the machine"
prepare() { python_needed; server unix "$ESC_HOME/.ssh/agent.sock"; }; connect "'$ESC_HOME/.ssh/agent.sock'";  try N06 chhhc "socket in a hidden directory, like an ssh agent's (Landlock does not see connect)"
prepare() { python_needed; server unix "$ESC_HOME/docker.sock"; }; connect "'$ESC_HOME/docker.sock'";  try N07 chhhc "socket in plain sight, like docker's"
prepare() { python_needed; }
detect() { said "$CANARY"; }
attempt() { echo "python3 -c \"import socket; socket.socket(40,1); print('$CANARY')\""; };  try N08 ?hhhh "vsock (no network namespace holds it)"
attempt() { echo "python3 -c \"import socket; socket.socket(17,3,0x300); print('$CANARY')\""; };  try N09 ${r}hhhh "raw packets (crossed only as root)"
none
attempt() { echo "ip link add esc0 type dummy 2>/dev/null"; }; detect() { ip link show esc0 >/dev/null 2>&1 && ip link del esc0; };  try N10 ?hhhh "change the machine's interfaces (crossed only as root)"
prepare() { python_needed; PORT=$((30000 + RANDOM % 9000)); rm -f "$ESC_TMP/reached"; background bash -c "for i in 1 2 3 4 5 6; do sleep 0.4; (exec 5<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && touch $ESC_TMP/reached; done"; }
attempt() { echo "timeout 3 python3 -c \"import socket; s=socket.socket(); s.bind(('0.0.0.0',$PORT)); s.listen(); s.settimeout(3); s.accept()\""; }; detect() { [[ -e $ESC_TMP/reached ]]; }

# ---- B: using it up (sandbox.limits; those of memory and processes need a control group that may be made) ----
limits() { ESC_LIMITS='sandbox.limits={"memoryBytes":536870912,"processes":256,"tmpBytes":268435456}'; [[ -w /sys/fs/cgroup ]] || ESC_NEED="no control group may be made"; }
prepare() { limits; }
attempt() { echo "for i in \$(seq 300); do sleep 3 & done 2>/dev/null; jobs -p | wc -l; [ \$(jobs -pr | wc -l) -ge 300 ] && echo $CANARY; kill \$(jobs -p)"; }; detect() { said "$CANARY"; };  try B01 chhhh "300 processes (limit 256)"
prepare() { limits; python_needed; }
attempt() { echo "python3 -c \"b=bytearray(1<<30); b[::4096]=b'x'*len(b[::4096]); print('$CANARY')\""; }; detect() { said "^$CANARY\$"; };  try B02 chhhh "one gigabyte of memory (limit 512 MB)"
prepare() { limits; ESC_NEED=; }
attempt() { echo "head -c 300M /dev/zero >/tmp/fill && echo $CANARY; rm -f /tmp/fill"; };     try B03 chhhh "300 MB in /tmp (limit 256 MB)"

# ---- W: must work ----
none
attempt() { echo "echo a >a && mkdir -p d/e && mv a d/e && cat d/e/a"; }; detect() { said '^a$'; };  try W01 wbwww "files in the workspace"
attempt() { echo "rm -rf r; mkdir r && cd r && git init -q . && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m first && git log --oneline"; }; detect() { said first; };  try W02 wbwww "git init and commit"
attempt() { echo "t=\$(mktemp) && echo tmp-ok >\$t && cat \$t"; }; detect() { said tmp-ok; };  try W03 wwwww "temporary files"
prepare() { python_needed; }
attempt() { echo "python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & for i in {1..60}; do sleep 0.1; (exec 5<>/dev/tcp/127.0.0.1/8123) 2>/dev/null && echo loop-ok && break; done; kill %1"; }; detect() { said loop-ok; };  try W04 wwwwb "a server of one's own on loopback"
attempt() { echo "python3 -c \"import socket,os; s=socket.socket(1); s.bind('/tmp/s.%d'%os.getpid()); s.listen(); c=socket.socket(1); c.connect(s.getsockname()); print('unix-ok')\""; }; detect() { said unix-ok; };  try W05 wwwwb "a unix socket of one's own"
attempt() { echo "python3 -c \"import multiprocessing as m; print(sum(m.Pool(2).map(abs,[1,-2])))\""; }; detect() { said '^3$'; };  try W06 wwww? "shared semaphores (/dev/shm)"
prepare() { command -v strace >/dev/null || ESC_NEED=strace; }
attempt() { echo "strace -o /dev/null true && echo trace-ok"; }; detect() { said trace-ok; }
none
attempt() { echo "script -qc 'tty; echo pty-ok' /dev/null"; }; detect() { said pty-ok; };    try W08 wwww? "a terminal of one's own"
attempt() { echo "node -e \"require('child_process').execFileSync('echo',['node-ok'],{stdio:'inherit'})\""; }; detect() { said node-ok; };  try W09 wwwww "node and its children"
attempt() { echo "id -un; getent passwd \$(id -u) | cut -d: -f1; ls -ld . | awk '{print \$3}'"; }; detect() { [[ $(sort -u "$scratch/out" | wc -l) == 1 ]]; };  try W10 wwwww "the same user as outside"
attempt() { echo "ps aux | wc -l; echo \$\$; kill -0 \$\$ && echo ps-ok"; }; detect() { said ps-ok; };  try W11 wwwww "ps and kill of one's own"


# ---- found by an attack on the first sketch ----
# More attempts, in the format of cases.sh: append them there, or source this file after it (needs its helpers).
# All are harmless when they succeed: they touch only $ESC_TMP, take no real device, signal nothing.
# Expectation order: off, read-only, workspace, strict, landlock.
here_git() { command -v git >/dev/null || ESC_NEED=git; }
git_ws() { here_git; rm -rf "$ESC_WS/.git"; git -C "$ESC_WS" init -q 2>/dev/null; echo a >"$ESC_WS/a"; git -C "$ESC_WS" add a; git -C "$ESC_WS" -c user.name=x -c user.email=x@y commit -qm first; mkdir -p "$ESC_WS/.git/hooks"; }
# what the person does afterwards, outside: a plain `git status`; whatever it starts can only leave a mark
person_git() { rm -f "$ESC_TMP/ran"; (cd "$ESC_WS" && HOME=$ESC_TMP/nohome ESC_RAN=$ESC_TMP/ran timeout 5 git status >/dev/null 2>&1); [[ -e $ESC_TMP/ran ]]; }
PLANT='#!/bin/sh\ntouch "$ESC_RAN"\n'

# ---- H: covers that come off, or never were on ----
detect() { said "$CANARY"; }
prepare() { echo old >"$ESC_HOME/.netrc"; during "echo $CANARY >$ESC_HOME/.n; mv $ESC_HOME/.n $ESC_HOME/.netrc"; }
attempt() { then_when : "cat $ESC_HOME/.netrc"; };                                   try H01 chhhh "a hidden file is replaced by rename outside (npm login, git credential): the cover falls off"
prepare() { during "echo $CANARY >$ESC_HOME/.git-credentials"; }
attempt() { then_when : "cat $ESC_HOME/.git-credentials"; };                              try H02 chhhh "a hidden file comes into being while the room lives"
prepare() { background bash -c "sleep 1; mv $ESC_HOME/.aws $ESC_HOME/.aws.old; mkdir $ESC_HOME/.aws; echo $CANARY >$ESC_HOME/.aws/credentials"; }
attempt() { echo "sleep 2; cat $ESC_HOME/.aws/credentials"; }
prepare() { mkdir -p "$ESC_HOME/dotfiles"; mv "$ESC_HOME/.aws" "$ESC_HOME/dotfiles/aws"; ln -s dotfiles/aws "$ESC_HOME/.aws"; }
attempt() { echo "cat $ESC_HOME/.aws/credentials"; };                                       try H04 chhhh "a hidden directory is a symbolic link (dotfiles)"
prepare() { ln -sfn "$ESC_TMP/home" "$ESC_TMP/hl"; ESC_HOME=$ESC_TMP/hl; }
attempt() { echo "cat $ESC_TMP/hl/.ssh/id_ed25519 $ESC_TMP/home/.ssh/id_ed25519"; }
detect() { ESC_HOME=$ESC_TMP/home; said "$CANARY"; }
detect() { said "$CANARY"; }
prepare() { ln -s "$ESC_HOME/.ssh/id_ed25519" "$ESC_WS/.envrc"; }
attempt() { echo "cat .envrc"; };                                                           try H06 chhhh "a protected name is a link to a credential (a cloned repository can hold it)"
prepare() { ESC_WS=$ESC_HOME; }
attempt() { echo "cat .ssh/id_ed25519 .local/state/cerith/vault"; }
detect() { ESC_WS=$ESC_HOME/work; said "$CANARY"; };                                        try H07 chhhh "the workspace is the home directory: what is hidden lies inside the root"
prepare() { ESC_WS=$ESC_HOME; }
attempt() { echo "echo evil >>.ssh/authorized_keys; echo evil >.local/state/cerith/approvals"; }
detect() { ESC_WS=$ESC_HOME/work; grep -qs evil "$ESC_HOME/.ssh/authorized_keys" "$ESC_STATE/approvals"; };  try H08 chhhh "the same, written"

# ---- F: changing files outside, again ----
prepare() { rm -f "$ESC_TMP/heard"; mkfifo "$ESC_OUT/pipe"; background bash -c "read -r l <$ESC_OUT/pipe; echo \$l >$ESC_TMP/heard"; }
attempt() { echo "timeout 5 bash -c 'echo evil >$ESC_OUT/pipe'"; }; detect() { soon grep -qs evil "$ESC_TMP/heard"; };  try F20 chhhh "a named pipe outside (a read-only mount does not stop it)"
prepare() { [[ $EUID == 0 ]] && mknod "$ESC_OUT/dev" c 1 3 || ESC_NEED="root (mknod)"; }
attempt() { echo "echo x >$ESC_OUT/dev && echo $CANARY"; }; detect() { said "$CANARY"; }
none
attempt() { echo "cp /bin/true suid; chmod 4755 suid; cp /bin/true sgid; chmod 2755 sgid"; }; detect() { [[ -u $ESC_WS/suid ]]; }
none
attempt() { echo "flock -x $ESC_OUT/file sleep 3 & sleep 0.3; :; wait"; }
prepare() { rm -f "$ESC_TMP/locked"; background bash -c "sleep 1.2; flock -n -x $ESC_OUT/file true || touch $ESC_TMP/locked"; }
detect() { [[ -e $ESC_TMP/locked ]]; };                                                     try F23 c??h? "lock a file outside that can only be read (documented)"

# ---- P: planting, again ----
none
prepare() { git_ws; }
attempt() { echo "mkdir -p ev/refs ev/objects; cp .git/HEAD ev/; printf '$PLANT' >ev/x; chmod +x ev/x; printf '[core]\nrepositoryformatversion=0\nfsmonitor=%s/ev/x\n' \$PWD >ev/config; echo ../ev >.git/commondir"; }
detect() { person_git; };                                                                   try P11 chhhh ".git/commondir sends git to another configuration"
attempt() { echo "mkdir sub && cd sub && git init -q . && git -c user.name=x -c user.email=x@y commit -q --allow-empty -m s && printf '$PLANT' >x && chmod +x x && git config core.fsmonitor \$PWD/x && cd .. && git update-index --add --cacheinfo 160000,\$(git -C sub rev-parse HEAD),sub"; }
detect() { person_git; };                                                                   try P12 chhhh "a repository below, entered in the index: git status above runs its fsmonitor"
prepare() { git_ws; echo '[user]' >"$ESC_WS/.gitconfig"; git -C "$ESC_WS" config include.path ../.gitconfig; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; printf '[core]\nfsmonitor=%s/x\n' \$PWD >.gitconfig"; }
detect() { person_git; }
prepare() { git_ws; mkdir -p "$ESC_WS/.husky"; git -C "$ESC_WS" config core.hooksPath .husky; }
attempt() { echo "printf '$PLANT' >.husky/pre-commit; chmod +x .husky/pre-commit"; }
detect() { rm -f "$ESC_TMP/ran"; (cd "$ESC_WS"; ESC_RAN=$ESC_TMP/ran git -c user.name=x -c user.email=x@y commit -q --allow-empty -m y) >/dev/null 2>&1; [[ -e $ESC_TMP/ran ]]; };  try P14 chhhc "hooks where core.hooksPath says (husky)"
prepare() { git_ws; rm -rf "$ESC_WS/.git.real" "$ESC_TMP/main.git"; mv "$ESC_WS/.git" "$ESC_TMP/main.git"; echo "gitdir: $ESC_TMP/main.git" >"$ESC_WS/.git"; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q --bare ev; git --git-dir=ev config core.bare false; git --git-dir=ev config core.fsmonitor \$PWD/x; rm -f .git; echo 'gitdir: ev' >.git"; }
# Without a room the file itself is not kept; the repository that it leads to is found in the workspace and disarmed (G02 and G06 likewise).
detect() { person_git; };                                                                   try P15 chhhh "the .git FILE of a worktree or submodule is replaced"
prepare() { rm -rf "$ESC_WS/.git"; here_git; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; git init -q --bare b && mv b/HEAD b/objects b/refs b/config . && git config -f config core.bare false; git config -f config core.worktree \$PWD; git config -f config core.fsmonitor \$PWD/x"; }
detect() { person_git; }
prepare() { git_ws; during "git -C $ESC_WS config some.thing 1"; }
attempt() { then_when '[ ! -w .git/config ]' "printf '[core]\nhooksPath=evil\n' >>.git/config"; }
detect() { grep -q evil "$ESC_WS/.git/config"; };                                           try P17 chhhc "git config run outside replaces .git/config: the protection falls off"
prepare() { rm -rf "$ESC_WS/.git"; mkdir -p "$ESC_HOME/.kube"; echo keep >"$ESC_HOME/.kube/config"; }
attempt() { echo "ln -s ../.kube .git; ln -s ../.kube .vscode"; }
detect() { [[ ! -e $ESC_HOME/.kube/config ]]; };                                            try P18 hhhhh "quarantine follows a link: a file of the person's is moved away by the engine itself"
prepare() { git_ws; mkdir -p "$ESC_WS/.vscode"; echo '{}' >"$ESC_WS/.vscode/settings.json"; background bash -c "sleep 1; rm -rf $ESC_WS/.vscode; mkdir $ESC_WS/.vscode; echo '{}' >$ESC_WS/.vscode/tasks.json"; }
attempt() { echo "sleep 2; echo evil >.vscode/tasks.json"; }
detect() { grep -qs evil "$ESC_WS/.vscode/tasks.json"; }

# ---- K, N ----
none
prepare() { python_needed; }
detect() { said "$CANARY"; }
sys "467,-100,0,0,0,0";                                                                     try K16 chhhh "open_tree_attr (6.15) reaches the kernel: newer than the list of refused calls (surface, no escape shown)"
sys "457,0,0,0,0";                                                                          try K17 chhhh "statmount (6.8) reaches the kernel (surface only; mountinfo tells the same)"
none
attempt() { echo "{ tr '\\0' '\\n' </proc/1/environ; readlink /proc/1/fd/* /proc/1/cwd /proc/1/root; head -c 1 /proc/1/mem; } 2>/dev/null | grep -q . && echo $CANARY"; }
attempt() { echo "for f in \$(find /proc -maxdepth 3 -path '/proc/[0-9]*' -prune -o -path /proc/self -prune -o -path /proc/thread-self -prune -o -type f -perm -200 ! -perm -002 -print 2>/dev/null); do ( exec 9>>\$f ) 2>/dev/null && echo \"\$f $CANARY\"; done"; }; try K19 ${r}hhhh "switches of the kernel in /proc that root owns (opened, not written)"
attempt() { echo "for f in kpageflags kpagecount kpagecgroup vmallocinfo slabinfo timer_list; do head -c 8 /proc/\$f 2>/dev/null | grep -q . && echo \"\$f $CANARY\"; done"; }
cat >"$ESC_TMP/late.py" <<'P'
import os, socket, sys
os.chdir(os.path.dirname(sys.argv[1])); s = socket.socket(1); s.bind(os.path.basename(sys.argv[1])); s.listen(); open(os.environ['ESC_TMP'] + '/ready', 'w')
while True: c, _ = s.accept(); c.sendall(os.environ['CANARY'].encode()); c.close()
P
ask() { echo "python3 -c \"import socket; s=socket.socket(1); s.connect('$1'); print(s.recv(99).decode())\""; }
prepare() { python_needed; rm -f "$ESC_TMP/ready"; during "python3 $ESC_TMP/late.py $ESC_HOME/late.sock & until [ -e $ESC_TMP/ready ]; do sleep 0.05; done"; }
attempt() { then_when "[ ! -S $ESC_HOME/late.sock ]" "$(ask "$ESC_HOME/late.sock")"; };          try N12 chhhc "a socket that is made while the room lives"
prepare() { python_needed; rm -f "$ESC_TMP/ready"; background python3 "$ESC_TMP/late.py" "$ESC_HOME/rel.sock"; within 200 test -e "$ESC_TMP/ready" || ESC_NEED="server did not start"; }
attempt() { ask "$ESC_HOME/rel.sock"; };                                                    try N13 chhhc "a socket that was bound by a relative name (/proc/net/unix does not say where)"
prepare() { python_needed; cat >"$ESC_TMP/dgram.py" <<'P'
import os, socket, sys
s = socket.socket(1, 2); s.bind(sys.argv[1]); open(os.environ['ESC_TMP'] + '/heard', 'wb').write(s.recv(99))
P
rm -f "$ESC_TMP/heard"; background python3 "$ESC_TMP/dgram.py" "$ESC_HOME/d.sock"; sleep 0.5; }
attempt() { echo "python3 -c \"import socket; s=socket.socket(1,2); s.sendto(b'evil','$ESC_HOME/d.sock')\""; }; detect() { sleep 0.2; grep -qs evil "$ESC_TMP/heard"; }
none
