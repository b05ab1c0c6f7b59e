/* The least work of a step: read the board, spawn the agent, spawn the Manager with the full list,
   and put four journal records on disk, each with an fdatasync. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOM (96l << 20)
extern char **environ;
static char *output;
static int sink;

static void fail(const char *why) { perror(why), exit(1); }

static long slurp(int fd, char *to) {
  long n = 0, r;
  while ((r = read(fd, to + n, ROOM - n - 1)) > 0) n += r;
  to[n] = 0;
  return n;
}

static void spawn(char *program, const char *text, long n) {
  int in[2], out[2], status;
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) fail("pipe");
  if (n > 65536) fcntl(in[1], F_SETPIPE_SZ, 1 << 20), fcntl(out[0], F_SETPIPE_SZ, 1 << 20);
  char *argv[] = {program, 0};
  pid_t pid = vfork();
  if (pid == 0) {
    dup2(in[0], 0), dup2(out[1], 1), dup2(sink, 2), setpgid(0, 0);
    execve(program, argv, environ);
    _exit(127);
  }
  close(in[0]), close(out[1]);
  for (long at = 0, r; at < n; at += r)
    if ((r = write(in[1], text + at, n - at)) < 0) fail("write");
  close(in[1]);
  slurp(out[0], output);
  close(out[0]);
  if (waitpid(pid, &status, 0) != pid || status) fail(program);
  if (!strstr(output, "\"status\":\"ok\"")) fail("reply");
}

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

/* loop runs the steps of the board in the current folder. */
static void loop(const char *path, char *agent, char *manager, int steps) {
  journal = open("journal.floor", O_CREAT | O_WRONLY | O_APPEND | O_TRUNC | O_CLOEXEC, 0644);
  for (; steps > 0; steps--) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *end = board + slurp(fd, board), task[512], header[4096];
    close(fd);
    if (sscanf(strstr(board, "current: "), "current: %511s", task) != 1 || !strcmp(task, "null")) fail("current");
    fd = open(task, O_RDONLY | O_CLOEXEC);
    header[read(fd, header, sizeof header - 1)] = 0;
    close(fd);
    if (!strstr(header, "role: ")) fail("role");
    record("start", task);
    long n = sprintf(input, "{\"task_file\":\"%s\",\"kanban_file\":\"%s\"}\n", task, path);
    spawn(agent, input, n);
    record("done", task), record("manager", task);
    spawn(manager, input, manager_input(path, task, end));
    record("next", task);
  }
  close(journal);
}

static void prepare(void) {
  char *room = mmap(0, 3 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  board = room, input = room + ROOM, output = room + 2 * ROOM;
  signal(SIGPIPE, SIG_IGN);
  sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
}
