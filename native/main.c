/* Entry of the cerith helper. `serve` is spoken by an engine over stdin and stdout; `peer` judges a
   connection; `version` proves that the file can be executed here. */
#include "helper.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "serve") == 0) return run_launcher();
  if (argc == 2 && strcmp(argv[1], "peer") == 0) return run_peer();
  if (argc == 2 && strcmp(argv[1], "version") == 0) {
    puts("cerith-helper " HELPER_VERSION);
    return 0;
  }
  fputs("cerith-helper: started by cerith itself; see docs/limits.md\n", stderr);
  return 2;
}
