/* crowd AT_ONCE STEPS AGENT MANAGER FOLDER...: the spawns of so many boards, one a folder, AT_ONCE boards at a time, and nothing else.
   Exits 0 after STEPS steps of each. */
#include "spawn.h"

#include <sys/mman.h>

/* task: the board's current one. */
static void task(char *to) {
  char board[4096];
  int fd = open("kanban.yaml", O_RDONLY | O_CLOEXEC);
  board[read(fd, board, sizeof board - 1)] = 0;
  close(fd);
  if (sscanf(strstr(board, "current: "), "current: %511s", to) != 1) fail("current");
}

static void work(const char *folder, int steps, char *agent, char *manager) {
  char current[512], text[4096];
  if (chdir(folder)) fail(folder);
  while (steps-- > 0) {
    task(current);
    spawn(agent, text, sprintf(text, "{\"task_file\":\"%s\",\"kanban_file\":\"kanban.yaml\"}\n", current));
    spawn(manager, text, sprintf(text, "{\"kanban_file\":\"kanban.yaml\",\"done_task\":\"%s\",\"tasks\":[\"%s\"]}\n", current, current));
  }
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  int at_once = atoi(argv[1]), status;
  sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
  for (int i = 0; i < at_once; i++)
    if (fork() == 0) {
      output = mmap(0, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      for (int k = 5 + i; k < argc; k += at_once) work(argv[k], atoi(argv[2]), argv[3], argv[4]);
      return 0;
    }
  while (wait(&status) > 0)
    if (status) return 1;
  return 0;
}
