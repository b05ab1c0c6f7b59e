/* agent reads its standard input to the end, replies and exits. */
#include "nolibc.h"

static char input[65536];
static const char reply[] = "{\"status\":\"ok\",\"message\":\"done\"}\n";

void _start(void) {
  while (call(READ, 0, (long)input, sizeof input) > 0) {
  }
  call(WRITE, 1, (long)reply, sizeof reply - 1);
  call(EXIT, 0, 0, 0);
  __builtin_unreachable();
}
