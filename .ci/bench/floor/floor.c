/* floor BOARD AGENT MANAGER STEPS does the least work of a step, STEPS times. It prints nothing and
   exits with 0. */
#include "loop.h"

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  prepare();
  loop(argv[1], argv[2], argv[3], atoi(argv[4]));
  return 0;
}
