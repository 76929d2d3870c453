/** Programs that format, partition, wipe or take apart disks and volumes. */
import { nameList } from '../../../contract/quote.js'
import { isRawDevice, resolvePath } from '../../words/paths.js'
import { plain } from '../../words/text.js'
import { basename, type Call, onlyTalks, options, type Program, reportsOn, table } from '../row/call.js'

function namesDevice(call: Call, word: string): boolean {
  return call.shell.cwd.some((cwd) => isRawDevice(resolvePath(word, cwd)))
}

/**
 * Whatever the option letters mean to this mkfs: a word that names a device is formatted, image files are left alone.
 */
const formats: Program = (call) => {
  const words = call.args
  if (onlyTalks(words)) return
  const device = words.find((word) => namesDevice(call, word))
  if (device !== undefined) call.report('destroy-device', [basename(call.argv[0] ?? ''), device])
  for (const word of words) if (!word.startsWith('-') && word.includes('/')) call.effect('overwrite', word)
}

/** Destroys a device only with certain words among its arguments. */
const destroysWith =
  (when: (words: readonly string[], call: Call) => boolean): Program =>
  (call) => {
    const words = call.args
    const device = words.find((word) => namesDevice(call, word))
    if (device !== undefined && when(words.map(plain), call))
      call.report('destroy-device', [basename(call.argv[0] ?? ''), device])
  }

/** Partition editors change the disk when a script or a changing command is given. */
const partitions = destroysWith((words, call) => {
  const name = basename(call.argv[0] ?? '')
  if (
    words.some((word) =>
      /^(-l|--list|-s|--getsz|-d|--dump|-J|--json|-p|--print|-V|--verify|-G|--show.*|--part-.*|-v|--version|-h|--help|print|unit)$/.test(
        word,
      ),
    ) &&
    !words.some((word) => /^(--delete|-Z|--zap.*|-z|-o|--clear|mklabel|rm|mkpart.*)$/.test(word))
  )
    return false
  if (name === 'parted')
    return words.some((word) => /\b(mklabel|mktable|mkpart|rm|resizepart|rescue|set|mkfs|name)\b/.test(word))
  if (name === 'sgdisk')
    return words.some((word) =>
      /^-(\w*[oZzdnNtGgRlceEjuUAbs]|-(zap.*|clear|delete.*|new.*|largest-new.*|replicate.*|load-backup.*|mbrtogpt|typecode.*|randomize-guids))/.test(
        word,
      ),
    )
  return true
})

const storage: Readonly<Record<string, readonly string[]>> = {
  ...table(nameList('lvremove vgremove pvremove lvreduce vgcfgrestore'), ['']),
  lvresize: ['-f', '--force', '-y', '--yes'],
  pvcreate: ['-f', '-ff', '--force', '-y', '--yes', '-ffy'],
  vgreduce: ['--removemissing', '-a', '--all'],
  zpool: ['destroy', 'labelclear', 'create'],
  zfs: ['destroy', 'rollback'],
  dmsetup: ['remove_all', 'wipe_table', '-f', '--force'],
  mdadm: ['--zero-superblock', '--create', '-C'],
  cryptsetup: ['luksFormat', 'luksErase', 'erase', 'luksKillSlot', 'luksHeaderRestore', 'reencrypt'],
  nvme: ['format', 'sanitize', 'write-zeroes', 'delete-ns', 'write-uncor', 'dsm'],
  btrfs: ['device', 'subvolume'],
  'ceph-volume': ['zap'],
  bcachefs: ['format'],
  multipath: [],
}

const volumes: Program = (call, name) => {
  const words = call.args.map(plain)
  if (
    onlyTalks(words) ||
    words.some((word) => /^--(?:test|list)$|^-l$/.test(word)) ||
    (name.startsWith('lv') && words.includes('-t'))
  )
    return
  const verbs = storage[name] ?? []
  const [first, second] = words.filter((word) => !word.startsWith('-'))
  let destroys = verbs.includes('')
    ? first !== undefined
    : words.some((word) => verbs.includes(word.replace(/=.*/, '')))
  if (name === 'btrfs')
    destroys =
      (first === 'device' && /^(delete|remove)$/.test(second ?? '')) ||
      (first === 'subvolume' &&
        second === 'delete' &&
        words.slice(2).some((word) => /^\/(@?|home|\.snapshots)?$/.test(word)))
  if (name === 'btrfs' && first === 'subvolume' && second === 'delete')
    for (const word of words.slice(2)) if (word.startsWith('/')) call.effect('delete-tree', word)
  if (name === 'zfs')
    destroys =
      first === 'destroy' &&
      !words.some((word) => /^-\w*n/.test(word)) &&
      !/@|^\uFDD0$/.test(words[words.length - 1] ?? '')
  if (name === 'zpool' && (words.includes('-n') || (first === 'create' && !words.includes('-f')))) destroys = false
  // Only what makes it smaller loses what was there.
  if (name === 'lvresize' && !words.some((word) => /^(?:-f|--force)$/.test(word)))
    destroys &&= words.some((word) => /^(?:-L|--size=?)?-\d/.test(word))
  if (name === 'dmsetup') destroys &&= /^(?:remove|remove_all|wipe_table)$/.test(first ?? '')
  // A container in a file.
  if (name === 'cryptsetup' && words.some((word) => /^[./](?!dev\/)\S/.test(word))) destroys = false
  if (name === 'nvme' && first === 'dsm') destroys = words.includes('--ad') || words.includes('-d')
  if (destroys) call.report('destroy-device', [name, ...words.slice(0, 4)])
}

const wipefs = destroysWith(
  (words) =>
    words.some((word) => /^(-\w*[ao]\w*|--al?l?|--of.*)$/.test(word)) &&
    !words.some((word) => /^(-n|--no-act)$/.test(word)),
)

const always = destroysWith(() => true)

const withFlag = (pattern: RegExp): Program => destroysWith((words) => words.some((word) => pattern.test(word)))

export const DISK_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(
    nameList(`
      mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs mkfs.f2fs
      mkfs.exfat mkfs.jfs mkfs.minix mkfs.bfs mkfs.cramfs mkfs.reiserfs mkfs.nilfs2 mkfs.udf mkfs.zfs mkfs.erofs
      mkfs.bcachefs mkfs.ubifs mke2fs mkdosfs mkntfs mkexfatfs mkudffs mkreiserfs newfs newfs_msdos newfs_hfs
      newfs_apfs mkswap
    `),
    formats,
  ),
  ...table(nameList('swapoff partprobe resize2fs'), () => {}),
  wipefs,
  ...table(
    nameList(`
      blkdiscard nwipe make-bcache bmaptool rpi-imager balena etcher dd_rhelp ntfswipe flashcp mformat virt-format
      sg_format sg_sanitize sg_unmap sg_write_same flash_erase flash_eraseall nandwrite ubiformat
    `),
    always,
  ),
  e2image: withFlag(/^-\w*(?:I|ra)/),
  partimage: withFlag(/^rest/),
  fsarchiver: (call) => {
    if (/^rest/.test(plain(call.argv[1] ?? '')) && call.argv.some((word) => /\bdest=\/dev\//.test(word)))
      call.report('destroy-device')
  },
  ntfsclone: withFlag(/^-\w*O|^--overwrite/),
  asr: withFlag(/^-?-erase$/),
  gpt: withFlag(/^(?:destroy|create|remove)$/),
  'systemd-repart': withFlag(/^--empty=(?:force|create|require)$/),
  'systemd-cryptenroll': withFlag(/^--wipe-slot=/),
  mmc: withFlag(/^(?:erase|writeprotect|gp|enh_area)$/),
  guestfish: withFlag(/^(?:zero-device|mkfs|part-init|part-disk|wipefs|dd|copy-file-to-device)$/),
  'ocs-sr': reportsOn('destroy-device', /^restore(?:disk|parts)$/),
  xfs_db: withFlag(/^-\w*x/),
  ...table(nameList('fdisk sfdisk cfdisk gdisk cgdisk sgdisk parted'), partitions),
  hdparm: withFlag(
    /^--(security-erase.*|trim-sector-.*|write-sector|make-bad-sector|dco-restore|security-set-pass|fwdownload|yes-i-know.*)$/,
  ),
  badblocks: withFlag(/^-\w*[wn]/),
  xfs_repair: withFlag(/^-\w*L/),
  flashrom: (call) => {
    // A programmer on a cable writes to a chip of another board.
    const given = options(call.args, { short: 'pwrvclio', long: ['programmer'] })
    const isOwn = /^internal|\uFDD0/.test(given.get('p', 'programmer') ?? 'internal')
    if (isOwn && call.argv.some((word) => /^(?:-\w*[wE]|--write.*|--erase)/.test(word))) call.report('destroy-device')
  },
  ...table(
    nameList(`
      partclone.ext4 partclone.ext3 partclone.xfs partclone.btrfs partclone.ntfs partclone.restore partclone.dd
    `),
    withFlag(/^-\w*[rbo]|^--restore|^--dev-to-dev|^--output/),
  ),
  mtd: (call, name) => {
    if (plain(call.argv[1] ?? '') === 'erase') call.report('destroy-device')
    return always(call, name)
  },
  tune2fs: withFlag(/^-U|^-O/),
  debugfs: withFlag(/^-\w*w/),
  diskutil: (call) => {
    if (
      /^(erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat|apfs|deleteContainer)$/i.test(
        plain(call.argv[1] ?? ''),
      ) &&
      call.args.some((word) => /^(\/dev\/)?r?disk\d|^delete/.test(word))
    )
      call.report('destroy-device')
  },
  ...table(Object.keys(storage), volumes),
}
