/* Reads the order to build a room: NUL-terminated `key=value` fields, items in the order in which they are to be
   applied. */
#define _GNU_SOURCE
#include "confine.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *key; ItemKind kind; } KINDS[] = {
  {"show=", SHOW}, {"write=", WRITE}, {"hide=", HIDE}, {"view=", VIEW}, {"blank=", BLANK}, {"between=", BETWEEN},
      {"protect=", PROTECT},
  {"try=", TRY}, {"layer=", LAYER},
};

static bool is_item(Policy *policy, const char *field) {
  for (size_t at = 0; at < sizeof KINDS / sizeof KINDS[0]; at++) {
    size_t length = strlen(KINDS[at].key);
    if (strncmp(field, KINDS[at].key, length) != 0) continue;
    if (policy->count == ITEMS) policy->overflow = true;
    else policy->items[policy->count++] = (Item){KINDS[at].kind, field + length, -1};
    return true;
  }
  return false;
}

const char *read_policy(Policy *policy, char *payload, size_t length) {
  memset(policy, 0, sizeof *policy);
  for (char *at = payload; at < payload + length; at += strlen(at) + 1) {
    if (is_item(policy, at)) continue;
    if (strncmp(at, "inner=", 6) == 0) policy->inner = at + 6;
    else if (strncmp(at, "lock=", 5) == 0) policy->lock = at + 5;
    else if (strcmp(at, "strict=1") == 0) policy->strict = true;
    else if (strcmp(at, "network=all") == 0) policy->all_network = true;
    else if (strcmp(at, "nested=1") == 0) policy->nested = true;
    else if (strcmp(at, "weaker=1") == 0) policy->weaker = true;
    else if (strcmp(at, "listens=1") == 0) policy->listens = true;
    else if (strncmp(at, "tmp=", 4) == 0) policy->tmp_bytes = atoll(at + 4);
    else if (strncmp(at, "room=", 5) != 0 && strcmp(at, "tier=landlock") != 0) {
        errno = EINVAL; return "an unknown field"; }
  }
  if (policy->overflow) { errno = E2BIG; return "more paths than a room can hold"; }
  for (int at = 0; at < policy->count; at++) {
    const Item *item = &policy->items[at];
    bool absolute = item->path[0] == '/' && item->path[1] != 0;
    if (item->kind == BLANK ? item->path[0] == '/' || item->path[0] == 0 : !absolute) {
        errno = EINVAL; return "a path"; }
    if (item->kind == TRY && (at + 1 == policy->count || policy->items[at + 1].kind != LAYER)) {
        errno = EINVAL; return "a layer"; }
  }
  return NULL;
}
