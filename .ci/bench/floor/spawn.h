/* What a spawn costs at least: three pipes' work, vfork, exec, the input written, the reply read to its end, and the wait. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
