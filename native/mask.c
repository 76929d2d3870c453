/* Replaces known values in a byte stream by their names, also when they are split across reads. The engine sends
   every form of a value that it wants hidden (plain, base64, hex, ...) as a needle of its own; the values live in
   this process's memory only. */
#include "helper.h"
#include <stdlib.h>
#include <string.h>

typedef struct Needle { struct Needle *next; unsigned char *bytes; size_t length; char *label; size_t label_length;
    } Needle;
struct Mask { Needle *by_first[256]; bool pair[65536]; size_t count, shortest; bool lacking; };

/* Without memory nothing can be compared with the values: what might hold one is not shown. */
static const char WITHHELD[] = "[withheld: no memory to mask it]";

Mask *mask_new(void) { return calloc(1, sizeof(Mask)); }
bool mask_empty(const Mask *mask) { return !mask || (mask->count == 0 && !mask->lacking); }

void mask_add(Mask *mask, const char *name, size_t name_length, const unsigned char *bytes, size_t length) {
  if (!mask || length < 2) return;
  /* Every line that is typed names its secrets anew: what is already known costs nothing. */
  for (const Needle *known = mask->by_first[bytes[0]]; known; known = known->next)
      if (known->length == length && memcmp(known->bytes, bytes, length) == 0) return;
  Needle *needle = calloc(1, sizeof *needle);
  if (!needle) { mask->lacking = true; return; }
  needle->bytes = malloc(length);
  needle->label = malloc(name_length + 10);
  if (!needle->bytes || !needle->label) { free(needle->bytes); free(needle->label); free(needle); mask->lacking = true;
      return; }
  memcpy(needle->bytes, bytes, length);
  needle->length = length;
  memcpy(needle->label, "[secret:", 8);
  memcpy(needle->label + 8, name, name_length);
  needle->label[8 + name_length] = ']';
  needle->label_length = name_length + 9;
  mask->pair[bytes[0] << 8 | bytes[1]] = true;
  /* Longest first, so that the name shown is that of the whole value, not of a part. */
  Needle **at = &mask->by_first[bytes[0]];
  while (*at && (*at)->length >= length) at = &(*at)->next;
  needle->next = *at;
  *at = needle;
  if (mask->count++ == 0 || length < mask->shortest) mask->shortest = length;
}

static bool keep(MaskState *state, const char *data, size_t length) {
  if (length > state->held_room) {
    char *grown = realloc(state->held, length * 2);
    if (!grown) return false;
    state->held = grown;
    state->held_room = length * 2;
  }
  memmove(state->held, data, length);
  state->held_length = length;
  return true;
}

/* Bytes that were shown before their time are not shown again. */
static void hand_on(MaskSink sink, void *context, const unsigned char *text, size_t from, size_t to, size_t shown) {
  if (from < shown) from = shown;
  if (to > from) sink(context, (const char *)text + from, to - from);
}

/* So many bytes are the beginning or the end of a value that a column cut off: what follows, or comes before, belongs
   to it as far as a longer needle says so. */
enum { PART = 12 };

static size_t part_right(const Mask *mask, const unsigned char *text, size_t left) {
  size_t furthest = PART;
  for (const Needle *needle = mask->by_first[text[0]]; needle; needle = needle->next) {
    if (needle->length <= PART || memcmp(needle->bytes, text, PART) != 0) continue;
    size_t same = PART;
    while (same < needle->length && same < left && needle->bytes[same] == text[same]) same++;
    if (same > furthest) furthest = same;
  }
  return furthest;
}

static size_t part_left(const Mask *mask, const unsigned char *text, size_t before) {
  size_t furthest = 0;
  for (size_t first = 0; first < 256; first++) {
    for (const Needle *needle = mask->by_first[first]; needle; needle = needle->next) {
      if (needle->length <= PART || memcmp(needle->bytes + needle->length - PART, text, PART) != 0) continue;
      size_t same = 0, most = needle->length - PART;
      while (same < most && same < before && needle->bytes[most - 1 - same] == *(text - 1 - same)) same++;
      if (same > furthest) furthest = same;
    }
  }
  return furthest;
}

/* Scans `text`, whose first `shown` bytes were shown already; everything before the returned position has been handed
   on. `last` = nothing more will come. */
static size_t scan(Mask *mask, const unsigned char *text, size_t length, size_t shown, bool last, MaskSink sink,
    void *context) {
  size_t clean = 0, cover_start = 0, cover_end = 0;
  const Needle *cover = NULL;
  for (size_t at = 0; at < length; at++) {
    if (cover && at >= cover_end) {
      hand_on(sink, context, text, clean, cover_start, shown);
      sink(context, cover->label, cover->label_length);
      clean = cover_end;
      cover = NULL;
    }
    if (at + 1 < length && !mask->pair[text[at] << 8 | text[at + 1]]) continue;
    size_t left = length - at;
    for (const Needle *needle = mask->by_first[text[at]]; needle; needle = needle->next) {
      if (needle->length > left) {
        if (!last && memcmp(needle->bytes, text + at, left) == 0) {
          /* May still become a match: hand on what is certain, keep the rest. */
          size_t from = cover ? cover_start : at;
          hand_on(sink, context, text, clean, from, shown);
          return from;
        }
        continue;
      }
      if (memcmp(needle->bytes, text + at, needle->length) != 0) continue;
      size_t end = at + needle->length;
      if (needle->length == PART) {
        end = at + part_right(mask, text + at, left);
        if (!cover) cover_start = at - part_left(mask, text + at, at - (clean > shown ? clean : shown));
      } else if (!cover) cover_start = at;
      if (!cover) { cover = needle; cover_end = end; }
      else if (end > cover_end) cover_end = end;
      break;
    }
  }
  if (cover) {
    hand_on(sink, context, text, clean, cover_start, shown);
    sink(context, cover->label, cover->label_length);
    clean = cover_end;
  }
  hand_on(sink, context, text, clean, length, shown);
  return length;
}

void mask_push(Mask *mask, MaskState *state, const char *data, size_t length, MaskSink sink, void *context) {
  if (mask_empty(mask)) { sink(context, data, length); return; }
  if (mask->lacking) { sink(context, WITHHELD, sizeof WITHHELD - 1); return; }
  char *joined = NULL;
  if (state->held_length > 0) {
    joined = malloc(state->held_length + length);
    if (!joined) { sink(context, WITHHELD, sizeof WITHHELD - 1); return; }
    memcpy(joined, state->held, state->held_length);
    memcpy(joined + state->held_length, data, length);
    data = joined;
    length += state->held_length;
    state->held_length = 0;
  }
  size_t shown = state->shown;
  size_t done = scan(mask, (const unsigned char *)data, length, shown, false, sink, context);
  state->shown = shown > done ? shown - done : 0;
  if (done < length && !keep(state, data + done, length - done)) sink(context, WITHHELD, sizeof WITHHELD - 1);
  free(joined);
}

void mask_flush(Mask *mask, MaskState *state, MaskSink sink, void *context) {
  if (state->held_length == 0) return;
  size_t length = state->held_length;
  state->held_length = 0;
  size_t shown = state->shown;
  state->shown = 0;
  scan(mask, (const unsigned char *)state->held, length, shown, true, sink, context);
}

/* Nothing has followed for a while: a prompt may end as a value begins. Shows what is held back, unless that could be
   half of a value; it still counts, so that the rest of a value is hidden when it comes. */
void mask_release(Mask *mask, MaskState *state, MaskSink sink, void *context) {
  if (state->held_length <= state->shown || 2 * state->held_length >= mask->shortest) return;
  sink(context, state->held + state->shown, state->held_length - state->shown);
  state->shown = state->held_length;
}
