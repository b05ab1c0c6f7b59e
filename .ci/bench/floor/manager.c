/* manager finds the task after done_task on the board, writes the board with the new `current`
   (temp file, rename), and replies with next_task and the list from its input. */
#include <emmintrin.h>

#include "nolibc.h"

#define ROOM (96ul << 20)
static char input[ROOM], board[ROOM], output[ROOM];
static word used;

void *memcpy(void *to, const void *from, word n) {
  void *start = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  return start;
}

static void fail(const char *why) {
  word n = 0;
  while (why[n]) n++;
  call(WRITE, 2, (long)why, n);
  call(EXIT, 1, 0, 0);
}

/* find returns the first place of needle in text, or 0. It compares the first and the last byte at
   sixteen places at a time. */
static char *find(char *text, word n, const char *needle, word m) {
  const __m128i first = _mm_set1_epi8(needle[0]), last = _mm_set1_epi8(needle[m - 1]);
  for (word i = 0; i + m <= n; i += 16) {
    __m128i a = _mm_cmpeq_epi8(first, _mm_loadu_si128((void *)(text + i)));
    __m128i b = _mm_cmpeq_epi8(last, _mm_loadu_si128((void *)(text + i + m - 1)));
    for (unsigned mask = _mm_movemask_epi8(_mm_and_si128(a, b)); mask; mask &= mask - 1) {
      word at = i + __builtin_ctz(mask), k = 0;
      while (k < m && text[at + k] == needle[k]) k++;
      if (k == m && at + m <= n) return text + at;
    }
  }
  return 0;
}
#define FIND(text, end, literal) find(text, (end) - (text), literal, sizeof(literal) - 1)

static word slurp(int fd, char *to) {
  word n = 0;
  for (long r; (r = call(READ, fd, (long)(to + n), ROOM - n - 64)) > 0;) n += r;
  return n;
}
static void put(const char *text, word n) { memcpy(output + used, text, n), used += n; }
#define PUT(literal) put(literal, sizeof(literal) - 1)
static void flush(int fd) {
  for (word at = 0; at < used;) {
    long n = call(WRITE, fd, (long)(output + at), used - at);
    if (n <= 0) fail("write\n");
    at += n;
  }
  used = 0;
}

/* value returns the JSON string after a key, and its length. */
static char *value(char *end, const char *key, word m, word *length) {
  char *start = find(input, end - input, key, m);
  if (!start) fail("input\n");
  start += m;
  *length = find(start, end - start, "\"", 1) - start;
  return start;
}

static void write_board(char *path, word length, char *end, char *next, word n) {
  static char target[4096], temp[4096];
  memcpy(target, path, length), memcpy(temp, path, length), memcpy(temp + length, ".new", 5);
  char *at = FIND(board, end, "current: "), *rest = at ? FIND(at, end, "\n") : 0;
  if (!rest) fail("current\n");
  put(board, at - board), PUT("current: ");
  if (next) put(next, n); else PUT("null");
  put(rest, end - rest);
  long fd = call(OPEN, (long)temp, 01 | 0100 | 01000, 0644);
  flush(fd);
  call(CLOSE, fd, 0, 0);
  call(RENAME, (long)temp, (long)target, 0);
}

void body(void) {
  char *end = input + slurp(0, input);
  word path_length, done_length, n = 0;
  char *path = value(end, "\"kanban_file\":\"", 15, &path_length), *done = value(end, "\"done_task\":\"", 13, &done_length);
  static char name[4096], entry[4100];
  memcpy(name, path, path_length);
  long fd = call(OPEN, (long)name, 0, 0);
  if (fd < 0) fail("open board\n");
  char *stop = board + slurp(fd, board), *next = 0;
  memcpy(entry, "- ", 2), memcpy(entry + 2, done, done_length), entry[done_length + 2] = '\n';
  char *list = FIND(board, stop, "tasks:\n"), *at = list ? find(list, stop - list, entry, done_length + 3) : 0;
  if (at && (next = FIND(at + done_length + 3, stop, "- "))) {
    next += 2;
    char *line = FIND(next, stop, "\n");
    n = (line ? line : stop) - next;
  }
  write_board(path, path_length, stop, next, n);
  PUT("{\"status\":\"ok\",\"message\":\"done\",\"next_task\":");
  if (next) PUT("\""), put(next, n), PUT("\""); else PUT("null");
  char *tasks = FIND(input, end, "\"tasks\":[");
  if (!tasks) fail("no tasks\n");
  PUT(","), put(tasks, FIND(tasks, end, "]") - tasks + 1), PUT("}\n");
  flush(1);
  call(EXIT, 0, 0, 0);
}
__asm__(".globl _start\n_start:\n and $-16,%rsp\n call body\n hlt\n");
