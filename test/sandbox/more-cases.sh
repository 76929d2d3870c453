# Further attempts, in the format of cases.sh. All are harmless where they succeed: they touch only $ESC_TMP, take no device, signal nothing.
# Expectation order: off, read-only, workspace, strict, landlock.

# ---- X: files ----
none
detect() { ! unchanged; }
attempt() { echo "echo evil >x; mv -f x $ESC_OUT/file"; };                                   try X01 chhhh "move a file over one outside"
attempt() { echo "cp /dev/null $ESC_OUT/file"; };                                            try X02 chhhh "copy nothing over a file outside"
attempt() { echo "mkdir d; (for i in \$(seq 300); do rm -rf d; ln -s $ESC_OUT d; rm -f d; mkdir d; done) & for i in \$(seq 300); do echo evil >d/file; done 2>/dev/null; wait"; }
try X03 chhhh "a directory that turns into a link while it is written to"
prepare() { python_needed; }
attempt() { echo "python3 -c \"import os; d=os.open('.',os.O_RDONLY); f=os.open('../../outside/file',os.O_WRONLY|os.O_TRUNC,dir_fd=d); os.write(f,b'evil')\""; }
try X04 chhhh "write outside relative to a descriptor"
attempt() { echo "python3 -c \"
import os
f=os.open('$ESC_OUT/file',os.O_RDONLY)
g=os.open('/proc/self/fd/%d'%f,os.O_WRONLY|os.O_TRUNC); os.write(g,b'evil')\""; };           try X05 chhhh "open a descriptor that can only be read again for writing"
attempt() { echo "python3 -c \"
import os,mmap
f=os.open('$ESC_OUT/file',os.O_RDWR); m=mmap.mmap(f,0); m[0:4]=b'evil'\""; };                try X06 chhhh "write outside through memory"
none
attempt() { echo "for f in /proc/self/fd/*; do echo evil >\$f/../../outside/file; echo evil >\$f/../outside/file; done 2>/dev/null"; };  try X07 chhhh "write outside through descriptors of the shell"
attempt() { echo "cd /proc/1/root$ESC_OUT && echo evil >file"; };                            try X08 hhhhh "write outside through the root of process 1"
attempt() { echo "cp /bin/true suid; chmod 4755 suid; cp /bin/true sgid; chmod 2755 sgid; install -m 4755 /bin/true s2; python3 -c \"import os; os.open('s3',os.O_CREAT|os.O_WRONLY,0o4755)\""; }
detect() { [[ -u $ESC_WS/suid || -g $ESC_WS/sgid || -u $ESC_WS/s2 || -u $ESC_WS/s3 ]]; };    try X09 chhhh "make a set-user-id program in the workspace"
prepare() { [[ $EUID == 0 ]] && mknod "$ESC_OUT/dev" c 1 3 || ESC_NEED="root (mknod)"; }
attempt() { echo "echo x >$ESC_OUT/dev && echo $CANARY"; }; detect() { said "$CANARY"; };    try X10 chhhh "write into a device file outside"
none
attempt() { echo "setfattr -n user.x -v evil $ESC_OUT/file; python3 -c \"import os; os.setxattr('$ESC_OUT/file','user.x',b'evil')\""; }
detect() { getfattr -n user.x "$ESC_OUT/file" >/dev/null 2>&1; };                             try X11 ?hhh? "attributes of a file outside"

# ---- Y: reading ----
detect() { said "$CANARY"; }
prepare() { outside; }
attempt() { echo "cat /proc/$OUT_PID/root$ESC_STATE/vault; for p in /proc/[0-9]*; do cat \$p/root$ESC_STATE/vault; done"; };  try Y01 chhhh "the vault through the root of another process"
prepare() { background bash -c 'exec 7<"$1"; sleep 60' x "$ESC_STATE/vault"; within 50 test -e "/proc/$!/fd/7"; }
attempt() { echo "for f in /proc/[0-9]*/fd/7; do cat \$f; done"; };                          try Y02 chhhh "a descriptor of another process"
prepare() { during "mv $ESC_HOME/.aws $ESC_HOME/.aws.old; mkdir $ESC_HOME/.aws; echo $CANARY >$ESC_HOME/.aws/credentials"; }
attempt() { then_when : "cat $ESC_HOME/.aws/credentials"; };                           try Y03 chhhh "a hidden directory is replaced outside"
prepare() { ln -sfn "$ESC_TMP/home" "$ESC_TMP/hl"; ESC_HOME=$ESC_TMP/hl; }
attempt() { echo "cat $ESC_TMP/hl/.ssh/id_ed25519 $ESC_TMP/home/.ssh/id_ed25519"; }
detect() { ESC_HOME=$ESC_TMP/home; said "$CANARY"; };                                        try Y04 chhhh "the home is reached through a link"
detect() { said "$CANARY"; }
prepare() { mkdir -p "$ESC_HOME/.config/gh" "$ESC_HOME/.kube"; echo "$CANARY" >"$ESC_HOME/.config/gh/hosts.yml"; echo "$CANARY" >"$ESC_HOME/.kube/config"; echo "$CANARY" >"$ESC_HOME/.bash_history"; mkdir -p "$ESC_HOME/other"; echo "$CANARY" >"$ESC_HOME/other/.env"; }
attempt() { echo "cat $ESC_HOME/.config/gh/hosts.yml $ESC_HOME/.kube/config $ESC_HOME/.bash_history $ESC_HOME/other/.env; find $ESC_HOME -name hosts.yml -exec cat {} +"; };  try Y05 chhhh "other credentials, a history, another project's .env"
prepare() { mkdir -p "$ESC_HOME/.ssh/deep"; ln "$ESC_HOME/.ssh/id_ed25519" "$ESC_HOME/.ssh/deep/k"; }
attempt() { echo "cat $ESC_HOME/work/../.ssh/deep/k; cd $ESC_HOME/.ssh/deep && cat k"; };    try Y06 chhhh "deep inside a hidden directory"
none
attempt() { echo "cat /dev/.cerith/*/* /dev/.cerith/nothing; ls -R /run 2>/dev/null | grep -q sock && echo $CANARY"; };  try Y07 ?hhhh "sockets of services in /run, and what the room covers with"
attempt() { echo "{ tr '\\0' '\\n' </proc/1/environ; readlink /proc/1/fd/* /proc/1/cwd /proc/1/root; head -c 1 /proc/1/mem; } 2>/dev/null | grep -q . && echo $CANARY"; };  try Y08 ?hhh? "environment, descriptors and memory of the room's init"

# ---- Z: planting, processes, kernel ----
prepare() { git_ws; echo '[user]' >"$ESC_WS/.gitconfig"; git -C "$ESC_WS" config include.path ../.gitconfig; }
attempt() { echo "printf '$PLANT' >x; chmod +x x; printf '[core]\nfsmonitor=%s/x\n' \$PWD >.gitconfig"; }
detect() { person_git; };                                                                    try Z01 chhhc "a file that the git configuration includes"
prepare() { git_ws; mkdir -p "$ESC_WS/.vscode"; echo '{}' >"$ESC_WS/.vscode/settings.json"; during "rm -rf $ESC_WS/.vscode; mkdir $ESC_WS/.vscode; echo '{}' >$ESC_WS/.vscode/tasks.json"; }
attempt() { then_when '[ ! -w .vscode/tasks.json ]' "echo evil >.vscode/tasks.json"; }
detect() { grep -qs evil "$ESC_WS/.vscode/tasks.json"; };                                    try Z02 chhhc "a protected directory that is made anew outside"
none
attempt() { echo "rm -rf .git; mkdir -p .git/hooks; echo evil >.git/hooks/post-checkout"; }; detect() { [[ -e $ESC_WS/.git/hooks/post-checkout ]]; };  try Z03 chhhc "remove .git and make another"
attempt() { echo "exec 9>.vscode 2>/dev/null; ln -s /etc .idea; echo evil >.mcp.json; mkdir .claude; echo evil >.claude/settings.json"; }
detect() { [[ -e $ESC_WS/.mcp.json || -e $ESC_WS/.claude/settings.json || -L $ESC_WS/.idea ]]; };  try Z04 chhhh "configuration of agents and editors that was not there"
prepare() { outside; }
detect() { [[ $(ps -o stat= -p "$OUT_PID") == T* ]]; }
attempt() { echo "kill -STOP $OUT_PID"; };                                                   try Z05 chhhh "stop a process outside"
none
detect() { said "$CANARY"; }
attempt() { echo "for f in kpageflags kpagecount kpagecgroup vmallocinfo slabinfo timer_list kcore kmsg; do head -c 8 /proc/\$f 2>/dev/null | grep -q . && echo \"\$f $CANARY\"; done"; };  try Z06 ?hhh? "the kernel's memory in /proc"
sys "323,1";                                                                                 try Z07 ?hhhh "userfaultfd"
sys "437,-100,0,0,24";                                                                       try Z08 ?hhhh "openat2, whose mode no filter can judge"
sys "435,0,88";                                                                              try Z09 ?hhhh "clone3, whose flags no filter can judge"
none
attempt() { echo "mount -t tmpfs t /mnt && echo $CANARY; umount /tmp && echo $CANARY; pivot_root . . && echo $CANARY"; };  try Z10 ${r}hhhh "mount, unmount, pivot"
attempt() { echo "mkdir -p $ESC_STATE/run/x; ls $ESC_STATE/run/*/room/* 2>/dev/null | grep -q . && ls $ESC_STATE/jobs && echo $CANARY"; };  try Z11 hhhhh "the engine's folders"
prepare() { python_needed; PORT=$((30000 + RANDOM % 9000)); rm -f "$ESC_TMP/reached"; background bash -c "while sleep 0.2; do (exec 5<>/dev/tcp/127.0.0.1/$PORT) 2>/dev/null && touch $ESC_TMP/reached; done"; }
attempt() { echo "timeout 3 python3 -c \"import socket; s=socket.socket(); s.bind(('0.0.0.0',$PORT)); s.listen(); s.settimeout(3); s.accept()\""; }
detect() { [[ -e $ESC_TMP/reached ]]; };                                                     try Z12 chhhh "a server that the machine can reach"
prepare() { python_needed; cat >"$ESC_TMP/dgram.py" <<'P'
import os, socket, sys
s = socket.socket(1, 2); s.bind(sys.argv[1]); open(os.environ['ESC_TMP'] + '/ready', 'w'); open(os.environ['ESC_TMP'] + '/heard', 'wb').write(s.recv(99))
P
rm -f "$ESC_TMP/heard" "$ESC_TMP/ready"; background python3 "$ESC_TMP/dgram.py" "$ESC_HOME/d.sock"; within 200 test -e "$ESC_TMP/ready"; }
attempt() { echo "python3 -c \"import socket; s=socket.socket(1,2); s.sendto(b'evil','$ESC_HOME/d.sock')\""; }; detect() { soon grep -qs evil "$ESC_TMP/heard"; };  try Z13 chhhc "a datagram socket outside"
prepare() { python_needed; server unix "$ESC_OUT/plain.sock"; }; connect "'$ESC_OUT/plain.sock'"; detect() { said "$CANARY"; };  try Z14 chhhc "a socket outside the home"
none
