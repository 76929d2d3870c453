/* try: what a room wrote into its layers, compared with the original, and brought over to it. All of it by
   descriptor and through no link: the layers were prepared by commands that are not trusted, and the original may be
   changed by others at the same time. */
#ifndef CERITH_TRY_H
#define CERITH_TRY_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

enum { TRY_ROOTS = 256, TRY_PATH = 4096, TRY_MARK = 192, TRY_DEPTH = 400 };

/* One root: the original, and the layer over it. */
typedef struct { int lower, upper, layer, journal; } TryRoot;

typedef struct {
  TryRoot roots[TRY_ROOTS];
  int count;
  struct timespec since;     /* what changed in the original from then on changed underneath */
  char fresh[80], old[80];   /* names for what is on its way, in the directory that it goes to */
  int known;                 /* what was accepted, as it stands in the original since */
} Try;

/* try-files.c */
int open_beneath(int root, const char *path, int flags);            /* through no link, out of no mount */
int open_parent(int root, const char *path, const char **name);     /* the directory that holds the last name */
bool is_whiteout(const struct stat *facts);
bool has_mark(int fd, const char *name);                            /* an attribute of the layer: opaque, origin */
bool is_before(const struct timespec *a, const struct timespec *b);
bool same_attributes(int a, int b);
bool copy_attributes(int from, int to);
void strip_layer_marks(int fd);
bool same_bytes(int a, int b);
bool copy_bytes(int from, int to);
/* sorted; NULL where it cannot be read. Does not keep fd's position */
char **names_in(int fd, size_t *count);
bool has_name(char **names, size_t count, const char *name);
void free_names(char **names, size_t count);
bool remove_tree(int parent, const char *name);
/* '-', or 's' when anything below it changed from then on, or 'm' when something is mounted there or unreadable */
char changed_within(int directory, const struct timespec *since);
void upper_mark(const struct stat *facts, char *mark);
void lower_mark(const struct stat *facts, char *mark);

/* try-scan.c */
void scan_root(const Try *tried, int index);

/* try-accept.c */
/* opaque directories become deletions of their own */
void settle_opaque(const TryRoot *root);
bool accept_all(Try *tried);

/* try-install.c: one name at a time, whole or not at all */
const char *install(Try *tried, int index, const char *path, const struct stat *above, const struct stat *below,
    const char *mark, bool forced);
/* another name of a file that came over in this call */
bool is_brother(const struct stat *above, const char *mark);
const char *remove_below(Try *tried, int index, const char *path, const struct stat *below, bool forced);
bool is_unfinished(const Try *tried);
void close_journals(const Try *tried);
bool recover(Try *tried);                                           /* finishes or undoes what a killed accept left */

/* try.c */
int run_try(int argc, char **argv);
#endif
