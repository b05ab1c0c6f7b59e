/* floor BOARD AGENT MANAGER STEPS: what a step costs at least: read the board, spawn the agent, spawn the Manager with the
   full list, and put four journal records on disk, one fdatasync each. Prints nothing; exits 0 after STEPS steps. */
#include "spawn.h"

#include <signal.h>
#include <sys/mman.h>

static char *board, *input;
static int journal;

static void record(const char *event, const char *task) {
  char line[700];
  int n = snprintf(line, sizeof line, "{\"seq\":1,\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"%s\",\"task\":\"%s\"}\n", event, task);
  if (write(journal, line, n) != n || fdatasync(journal)) fail("journal");
}

static long manager_input(const char *path, const char *task, char *end) {
  char *q = input + sprintf(input, "{\"kanban_file\":\"%s\",\"done_task\":\"%s\",\"tasks\":[", path, task);
  for (char *line = strstr(board, "tasks:\n") + 7; line < end;) {
    char *stop = memchr(line, '\n', end - line);
    *q++ = '"';
    q = mempcpy(q, line + 4, stop - line - 4);
    *q++ = '"', *q++ = ',', line = stop + 1;
  }
  return q - 1 + sprintf(q - 1, "]}\n") - input;
}

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  char *room = mmap(0, 3 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  board = room, input = room + ROOM, output = room + 2 * ROOM;
  signal(SIGPIPE, SIG_IGN);
  sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
  journal = open("journal.floor", O_CREAT | O_WRONLY | O_APPEND | O_TRUNC | O_CLOEXEC, 0644);
  for (int step = atoi(argv[4]); step > 0; step--) {
    int fd = open(argv[1], O_RDONLY | O_CLOEXEC);
    char *end = board + slurp(fd, board), task[512], header[4096];
    close(fd);
    if (sscanf(strstr(board, "current: "), "current: %511s", task) != 1 || !strcmp(task, "null")) fail("current");
    fd = open(task, O_RDONLY | O_CLOEXEC);
    header[read(fd, header, sizeof header - 1)] = 0;
    close(fd);
    if (!strstr(header, "role: ")) fail("role");
    record("start", task);
    long n = sprintf(input, "{\"task_file\":\"%s\",\"kanban_file\":\"%s\"}\n", task, argv[1]);
    spawn(argv[2], input, n);
    record("done", task), record("manager", task);
    spawn(argv[3], input, manager_input(argv[1], task, end));
    record("next", task);
  }
  return 0;
}
