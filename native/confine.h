/* confine: what a command may see and touch. A room is built once per policy (namespaces and mounts, kept by a
   holder process); commands are put into it, each with process ids of its own. */
#ifndef CERITH_CONFINE_H
#define CERITH_CONFINE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { ITEMS = 4096, SPACES = 5 };

/* What is done with a path, in the order of the list: the later (deeper) item wins. */
typedef enum {
  SHOW = 's',      /* as it is outside, read-only */
  WRITE = 'w',     /* as it is outside, writable */
  HIDE = 'h',      /* an empty file or directory in its place */
  /* a read-only layer over a directory: names that follow as BLANK are not there, sockets and pipes are dead */
  VIEW = 'v',
  BLANK = 'b',     /* a name (relative to the view) that is not there, now or later */
  BETWEEN = 'n',   /* stays as it is but cannot be moved or removed */
  PROTECT = 'p',   /* stays as it is, read-only, although it lies in a WRITE */
  TRY = 't',       /* writable, but what is written lands in the LAYER that follows: the original stays as it is */
  LAYER = 'l',     /* a directory with `upper` and `work` */
} ItemKind;

typedef struct { ItemKind kind; const char *path; int fd; } Item;

typedef struct {
  Item items[ITEMS];
  int count;
  bool overflow;        /* the list was longer than ITEMS: a failure, never a shorter list */
  bool strict;          /* nothing exists but what is shown */
  bool all_network;     /* the machine's network instead of a loopback of the room's own */
  bool nested;          /* commands may make user namespaces of their own: no second wall */
  bool weaker;          /* goes on without the second wall where the kernel has none */
  bool listens;         /* a listener on 127.0.0.1:3128 inside, accepted outside */
  long long tmp_bytes;   /* 0: no limit but the memory of the machine */
  const char *inner;    /* directory of session files: each command sees only its own folder of it */
  const char *lock;     /* held as long as anything lives in the room: nothing else uses its layers meanwhile */
} Policy;

typedef struct { int network, wall, listener, lock; unsigned lacks; } RoomParts;   /* descriptors, -1 = none */
enum { LACKS_VIEW = 1, LACKS_WALL = 2 };

/* Two empty things that covers are made of, on a mount that can only be read. */
#define NONE "/dev/.cerith/none"
#define NOTHING "/dev/.cerith/nothing"

/* confine-policy.c */
const char *read_policy(Policy *policy, char *payload, size_t length);

/* confine-room.c: in a process of its own, which becomes the holder. NULL, or what failed with errno set. */
const char *room_build(Policy *policy, RoomParts *parts);
bool keep_identity(uid_t uid, gid_t gid);                /* in a user namespace that was just made */

/* confine-keep.c */
void hold_room(const Policy *policy, int orders) __attribute__((noreturn));
bool cover_socket(const char *path, const Policy *policy);

/* confine-mounts.c: mounts by descriptor only */
enum { A_RDONLY = 1, A_NOSUID = 2, A_NODEV = 4, A_NOEXEC = 8 };
int open_source(const char *path);                       /* on the machine; through no link */
int open_within(int root, const char *path);             /* in the new root; through no link */
int open_following(int root, const char *path);          /* in the new root; links are followed inside it */
int clone_mount(int fd, bool deep);
bool change_mount(int fd, unsigned long long set, bool deep);
bool place_mount(int mount, int target);
bool cover_with(int source, int target, unsigned long long set, bool deep);
long long mount_id(int fd);
bool make_within(int root, const char *path, bool directory);

/* confine-enter.c: called in the porter, a child of the warden that ends afterwards; what it makes are children of
   the warden. */
typedef struct {
  const int *spaces;            /* the room's namespaces, the one of users first; -1 = the machine's */
  bool detached;
  int *held;                    /* gets a descriptor of the command's own mounts */
  int *ready;                   /* gets a gate that opens when the init has mounted what the command may see */
  int lock;                     /* of the room, -1 = none: the init holds it as long as it lives */
  int leave;                    /* read end of a pipe: at its end the init goes when its last child went */
} Entry;
const char *room_enter(const Entry *entry, pid_t *init);
/* `folder` of `inner` is the only one that the command sees; NULL = none. */
const char *room_furnish(const char *inner, const char *folder, bool own_terminals);
bool gate_is_open(int gate);                             /* waits for the byte 1; anything else, and the end, is a no */
pid_t clone_leader(int (*run)(void *), void *context);

/* confine-filter.c, confine-wall.c: the last things before the exec */
/* What else stands around a command: a room, or nothing (the lower tier), there with or without the network. */
typedef enum { IN_ROOM, ALONE, ALONE_OFFLINE } Around;
const char *lock_down(bool nested, Around around);
const char *lock_down_init(void);                        /* waits for others to end, and can do nothing else */
/* makes it ahead of need, for all that comes from this process */
void prepare_filter(bool nested, Around around);
void drop_bounds(void);                                  /* no program that starts from here on has capabilities */
int make_wall(const Policy *policy, bool scoped);        /* a Landlock ruleset, or -1 with errno */
int make_only_wall(const Policy *policy);                /* the tier without rooms */
bool enter_wall(int ruleset);
void shield_switches(void);                              /* on the tier without rooms, for root */
long landlock_version(void);

/* confine-rooms.c: the launcher's rooms */
/* A warden that waits for a command; pid 0 = none. */
typedef struct { pid_t pid; int requests, control, gate, oom; } Spare;
typedef struct {
  int id; pid_t holder; int orders, wall, listener, lock, spaces[SPACES]; bool all_network, nested, only_wall;
      char *inner; unsigned long told;
  char *text; size_t text_length;   /* without a room: the order, from which each command gets a wall of its own */
  Spare spare;
  bool used, wants_spare;
} Room;
extern Room outside;                                       /* commands without a sandbox: of a room, only its spare */
#define ROOM_GONE "room is gone"                           /* the engine builds another and gives its order again */
void build_room(char *payload, size_t length);            /* says 'R' or 'F' */
Room *find_room(int id);
/* the tier without rooms: a ruleset that lets a command into its own folder; or -1 */
int wall_with(const Room *room, const char *folder);
/* before a command enters: sockets that came into being are covered; NULL or what failed */
const char *refresh_room(Room *room);
void refresh_rooms(void);
Room *room_without_spare(void);                           /* one that wants a spare, or NULL */
bool any_room(void);
bool is_room_process(pid_t pid);
void room_process_ended(pid_t pid);
void publish_port(char *payload, size_t length);          /* says 'P' */
void close_room(int id);
void remove_session_files(void);
void forget_spare(Spare *spare);                          /* it ends when it notices */
void end_spares(void);                                    /* the engine is gone: none is left behind */

/* confine-try.c */
const char *lay_over(int target, int lower, int layer);
int lock_layers(const char *path);                       /* the lock, or -1 with errno */
/* root: every id of this namespace is itself in the one that is made next */
bool map_everyone(pid_t *mapper, int *go);
bool mapped(pid_t mapper, int go);

/* confine-sockets.c: listening sockets of the machine by path, NUL after each; the number changes with the list,
   and is 0 when there are more than it can hold */
unsigned long machine_sockets(const char **list, size_t *length);

/* confine-ports.c */
int forward_port(pid_t holder, int port, pid_t *forwarder);   /* 0 or errno */
#endif
