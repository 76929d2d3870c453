/* Reads a start request: NUL-terminated `key=value` fields. The strings stay in the payload; only the vectors are
   allocated. */
#include "helper.h"
#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *field, const char *key) {
  size_t length = strlen(key);
  return strncmp(field, key, length) == 0 && field[length] == '=' ? field + length + 1 : NULL;
}

static bool append(char ***vector, size_t *count, size_t *room, char *text) {
  if (*count + 2 > *room) {
    *room = *room ? *room * 2 : 32;
    char **grown = realloc(*vector, *room * sizeof(char *));
    if (!grown) return false;
    *vector = grown;
  }
  (*vector)[(*count)++] = text;
  (*vector)[*count] = NULL;
  return true;
}

bool parse_request(char *payload, size_t length, Request *request) {
  memset(request, 0, sizeof *request);
  request->payload = payload;
  request->payload_length = length;
  request->in_slot = request->out_slot = request->err_slot = -1;
  request->extra_in_fd = request->extra_in_slot = -1;
  request->oom = request->room = request->listener_room = -1;
  request->id = -1;
  request->grace_ms = 2000;
  size_t args = 0, arg_room = 0, vars = 0, var_room = 0;
  const char *value;
  for (char *at = payload, *end = payload + length; at < end; at += strlen(at) + 1) {
    if ((value = value_of(at, "arg"))) {
      if (!append(&request->argv, &args, &arg_room, (char *)value)) return false;
    } else if ((value = value_of(at, "env"))) {
      if (!append(&request->envp, &vars, &var_room, (char *)value)) return false;
    }
    else if ((value = value_of(at, "id"))) request->id = atol(value);
    else if ((value = value_of(at, "cwd"))) request->cwd = (char *)value;
    else if ((value = value_of(at, "path"))) request->path = (char *)value;
    else if ((value = value_of(at, "dir"))) { request->dir = (char *)value; request->keep = true; }
    else if ((value = value_of(at, "in"))) request->in_slot = atoi(value);
    else if ((value = value_of(at, "fifo"))) request->in_fifo = atoi(value) != 0;
    else if ((value = value_of(at, "out"))) request->out_slot = atoi(value);
    else if ((value = value_of(at, "err"))) request->err_slot = atoi(value);
    else if ((value = value_of(at, "merge"))) request->merge = atoi(value) != 0;
    else if ((value = value_of(at, "detached"))) request->detached = atoi(value) != 0;
    else if ((value = value_of(at, "xin"))) {
      request->extra_in_fd = atoi(value);
      const char *colon = strchr(value, ':');
      if (colon) request->extra_in_slot = atoi(colon + 1);
    }
    else if ((value = value_of(at, "pty"))) {
      request->pty = true;
      request->cols = atoi(value);
      const char *comma = strchr(value, ',');
      request->rows = comma ? atoi(comma + 1) : 24;
    }
    else if ((value = value_of(at, "deadline"))) request->deadline_ms = atoll(value);
    else if ((value = value_of(at, "grace"))) request->grace_ms = atoll(value);
    else if ((value = value_of(at, "head"))) request->head_bytes = atoll(value);
    else if ((value = value_of(at, "tail"))) request->tail_bytes = atoll(value);
    else if ((value = value_of(at, "oom"))) request->oom = atoi(value);
    else if ((value = value_of(at, "cpu"))) request->cpu_seconds = atoll(value);
    else if ((value = value_of(at, "memory"))) request->memory_bytes = atoll(value);
    else if ((value = value_of(at, "processes"))) request->processes = atoll(value);
    else if ((value = value_of(at, "room"))) request->room = atoi(value);
    else if ((value = value_of(at, "group"))) {
      if (request->group_count == 4) return false;
      request->groups[request->group_count++] = (char *)value;
    }
    else if ((value = value_of(at, "folder"))) request->folder = (char *)value;
    else if ((value = value_of(at, "listener"))) request->listener_room = atoi(value);
    else if ((value = value_of(at, "filesize"))) request->file_bytes = atoll(value);
  }
  if (!request->envp && !append(&request->envp, &vars, &var_room, NULL)) return false;
  return request->id >= 0 && request->path && args > 0;
}

void free_request(Request *request) {
  free(request->argv);
  free(request->envp);
}

const char *field_text(const char *payload, size_t length, const char *key) {
  for (const char *at = payload, *end = payload + length; at < end; at += strlen(at) + 1) {
    const char *value = value_of(at, key);
    if (value) return value;
  }
  return NULL;
}

long long field_number(const char *payload, size_t length, const char *key, long long fallback) {
  const char *value = field_text(payload, length, key);
  return value ? atoll(value) : fallback;
}
