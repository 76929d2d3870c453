/* Entry of the cerith helper. `serve` is spoken by an engine over stdin and stdout; `peer` judges a connection;
   `link`, `probe` and `start` serve an engine that is used from another machine; `try` looks at and accepts what was
   tried; `version` proves that the file can be executed. */
#include "helper.h"
#include "try.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "serve") == 0) return run_launcher();
  if (argc == 2 && strcmp(argv[1], "peer") == 0) return run_peer();
  if (argc == 2 && strcmp(argv[1], "version") == 0) {
    puts("cerith-helper " HELPER_VERSION);
    return 0;
  }
  if (argc == 7 && strcmp(argv[1], "link") == 0)
    return run_link(argv[2], atoi(argv[3]), argv[4], argv[5], atoi(argv[6]));
  if (argc == 3 && strcmp(argv[1], "probe") == 0) return run_probe(argv[2]);
  if (argc >= 5 && strcmp(argv[1], "start") == 0) return run_start(argv[2], argv[3], argv + 4);
  if (argc >= 4 && strcmp(argv[1], "try") == 0 && (argc >= 6 || strcmp(argv[2], "remove") == 0
      || strcmp(argv[2], "free") == 0)) return run_try(argc, argv);
  fputs("cerith-helper: started by cerith itself; see docs/limits.md\n", stderr);
  return 2;
}
