/* crowd AT_ONCE STEPS AGENT MANAGER FOLDER...: the least that STEPS steps of so many boards cost, one board a folder, AT_ONCE of them
   at a time. Prints nothing; exits 0. */
#include "loop.h"

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  int at_once = atoi(argv[1]), status;
  for (int i = 0; i < at_once; i++)
    if (fork() == 0) {
      prepare();
      for (int k = 5 + i; k < argc; k += at_once) {
        if (chdir(argv[k])) fail(argv[k]);
        loop("kanban.yaml", argv[3], argv[4], atoi(argv[2]));
      }
      return 0;
    }
  while (wait(&status) > 0)
    if (status) return 1;
  return 0;
}
