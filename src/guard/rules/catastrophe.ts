/** The catastrophic rules: rows of name, reason, guidance and examples. The examples are tests. */

interface RuleRow {
  readonly name: string
  /** Follows "dangerous: " in the reason given to people and models. */
  readonly why: string
  /** What to do instead, written for the model that reads the refusal. */
  readonly guidance: string
  readonly match: readonly string[]
  readonly notMatch: readonly string[]
}

export const CATASTROPHES = [
  {
    name: 'wipe-root',
    why: 'removes or rewrites the whole file system',
    guidance: 'Name the one directory you want to empty, for example `rm -rf ./build`.',
    match: [
      'rm -rf /',
      'sudo rm -r --no-preserve-root /*',
      'cd / && rm -rf *',
      'find / -delete',
      'rm -rf "$NOPE_DIR/"*',
    ],
    notMatch: ['rm -rf /tmp/x', 'ls /', "echo 'rm -rf /'", 'find / -name core -print', 'rm -rf "${OUT:?}"/*'],
  },
  {
    name: 'wipe-system',
    why: 'removes or moves a directory in which the system or its services keep what they need',
    guidance: 'Name the file or sub-directory you created; let the package manager remove system software.',
    match: ['rm -rf /etc', 'rm -rf /usr/*', 'mv /var /tmp/x', 'rm -rf /usr/share/../bin', 'rm -rf /b{in,oot}'],
    notMatch: ['rm -rf /var/lib/apt/lists/*', 'rm -rf /usr/local/go', 'rm -rf /root/.cache/pip', 'mv /tmp/a /tmp/b'],
  },
  {
    name: 'wipe-home',
    why: "removes a user's home directory, or all of what a person keeps there",
    guidance: 'Name the one directory below home you want to remove, for example `rm -rf ~/project/build`.',
    match: ['rm -rf ~', 'rm -rf "$HOME"/*', 'cd && rm -rf *', 'find ~ -delete', 'rm -rf ~/.ssh', 'rm -rf ~/Documents'],
    notMatch: ['rm -rf ~/.cache/pip', "rm -rf '~'", 'ls ~', 'find ~ -name "*.pyc" -delete', 'rm -rf ~/Documents/old'],
  },
  {
    name: 'overwrite-critical',
    why: 'destroys or locks what the system needs to boot or to let anybody in',
    guidance: 'Work on a copy, and use the tool made for the file (`usermod`, `visudo`, `update-grub`).',
    match: [
      ': > /etc/passwd',
      'cp /dev/null /etc/shadow',
      'rm /bin/bash',
      'truncate -s0 /etc/sudoers',
      'mv /boot/vmlinuz /tmp',
    ],
    notMatch: ['cat /etc/passwd', 'cp /etc/passwd ./passwd.bak', 'echo 127.0.0.1 x >> /etc/hosts', 'ls /boot'],
  },
  {
    name: 'destroy-device',
    why: 'writes over or gives up a disk, a volume, a partition or memory',
    guidance: 'Use an image file in the project instead of a device.',
    match: [
      'dd if=/dev/zero of=/dev/sda',
      'mkfs.ext4 /dev/sda1',
      'echo x > /dev/nvme0n1',
      'wipefs -a /dev/vda',
      'zpool destroy tank',
    ],
    notMatch: ['dd if=a of=/dev/null', 'mkfs.ext4 ./disk.img', 'fdisk -l', 'echo x > dev/sda', 'lsblk /dev/sda'],
  },
  {
    name: 'kernel-switch',
    why: 'writes to a switch of the kernel that stops or breaks the machine',
    guidance: 'Leave the kernel switches alone; ask the person to do this by hand.',
    match: ['echo b > /proc/sysrq-trigger', 'echo mem | sudo tee /sys/power/state'],
    notMatch: ['cat /proc/cpuinfo', 'cat /sys/power/state'],
  },
  {
    name: 'open-permissions',
    why: 'changes owner or permissions of system files, which breaks logins, sudo and services',
    guidance: 'Change only files of your project, for example `chmod -R u+rwX ./dir`.',
    match: [
      'chmod -R 777 /',
      'chown -R me /usr',
      'chmod 000 /',
      'find / -print0 | xargs -0 chown nobody',
      'chmod 666 /etc/shadow',
    ],
    notMatch: [
      'chmod -R 755 ./dist',
      'chown -R "$(id -u)" ./dir',
      'chmod +x run.sh',
      'chown -R me /usr/local/share/app',
    ],
  },
  {
    name: 'fork-bomb',
    why: 'starts processes without end until the machine stops answering',
    guidance: 'Bound the recursion or the loop, or use `xargs -P N`.',
    match: [':(){ :|:& };:', 'f(){ f|f& };f', 'while :; do sleep 999 & done', "perl -e 'fork while fork'"],
    notMatch: [
      'f(){ (( $1 > 0 )) && f $(($1-1)); }; f 3',
      'for i in 1 2 3; do sleep 1 & done; wait',
      "echo ':(){ :|:& };:'",
    ],
  },
  {
    name: 'kill-everything',
    why: 'ends every process it may signal, this one included',
    guidance: 'Kill one process by its pid, or stop the job by its id.',
    match: ['kill -9 -1', 'killall5', 'pkill -9 .', "pkill -f ''", 'pgrep . | xargs kill', 'kill -9 $(ps -eo pid)'],
    notMatch: ['kill -9 12345', 'kill %1', 'pkill -x my-server', 'pkill -f my-server', 'kill -l', 'kill -1 12345'],
  },
  {
    name: 'host-down',
    why: 'stops or restarts the machine',
    guidance: 'Restart the one service or process you need; ask the person to restart the machine.',
    match: ['shutdown -h now', 'sudo reboot', 'systemctl poweroff', 'init 0', 'telinit 6'],
    notMatch: ['shutdown --help', 'last reboot', 'systemctl status', 'npm run shutdown', 'shutdown -c'],
  },
  {
    name: 'wipe-cron',
    why: 'deletes the scheduled jobs of a user',
    guidance: 'Save them first (`crontab -l > cron.bak`), edit the copy, and install that.',
    match: ['crontab -r', 'echo | crontab -', 'crontab /dev/null'],
    notMatch: ['crontab -l', 'crontab new.cron'],
  },
  {
    name: 'flush-firewall',
    why: 'drops the firewall rules of the machine',
    guidance: 'Delete the single rule you added (`iptables -D ...`).',
    match: ['iptables -F', 'nft flush ruleset', 'ip6tables --flush'],
    notMatch: ['iptables -L -n', 'nft list ruleset', 'iptables -nvL'],
  },
  {
    name: 'cut-network',
    why: 'takes the machine off the network, or stops what logins and services rest on',
    guidance: 'Use `ip link show` to look; ask the person to change interfaces.',
    match: ['ip link set eth0 down', 'ifconfig eth0 down', 'nmcli networking off'],
    notMatch: ['ip link show', 'ip addr', 'ifconfig'],
  },
  {
    name: 'wipe-history',
    why: 'erases the record of what was done on this machine',
    guidance: 'Leave the history alone; nothing in your task needs it gone.',
    match: ['history -c', ': > ~/.bash_history', 'rm ~/.zsh_history'],
    notMatch: ['history', 'history 20', 'cat ~/.bash_history'],
  },
  {
    name: 'remove-essential-package',
    why: 'uninstalls software the system or its logins cannot do without',
    guidance: 'Remove only packages you installed.',
    match: ['rpm -e --nodeps glibc', 'apt-get purge -y libc6', 'dpkg --purge --force-all bash'],
    notMatch: ['apt-get -s remove bash', 'apt-get remove cowsay', 'rpm -q glibc'],
  },
  {
    name: 'disarm',
    why: 'switches off what protects this machine or records what is done on it',
    guidance: 'Leave it on; ask the person if it is in the way.',
    match: ['setenforce 0', 'auditctl -e 0', 'auditctl -D'],
    notMatch: ['getenforce', 'setenforce 1', 'auditctl -l', 'auditctl -s'],
  },
  {
    name: 'hidden-code',
    why: 'feeds text to a shell that was encoded so that nobody can read it first',
    guidance: 'Decode it into a file, read it, and run that file.',
    match: ['openssl enc -d -aes-256-cbc -k x <<< U2FsdGVk | sh'],
    notMatch: ['echo aGVsbG8= | base64 -d', 'cat script.sh | bash'],
  },
] as const satisfies readonly RuleRow[]

export type RuleName = (typeof CATASTROPHES)[number]['name']

const BY_NAME = new Map<RuleName, RuleRow>(CATASTROPHES.map((row) => [row.name, row]))

export function catastrophe(name: RuleName): RuleRow {
  return BY_NAME.get(name) as RuleRow
}
