/*
 * A library for LD_PRELOAD that makes one kind of system call fail, for tests of failing disks.
 *
 * Calls fail while the file FAULT_TRIGGER exists. It has one line, "number call errno after path":
 *
 *   number  of the fault; another number is another fault and starts its own count
 *   call    sync (fdatasync, fsync), write (write, writev, pwrite, pwritev),
 *           truncate (ftruncate), allocate (fallocate, posix_fallocate), rename, link
 *   errno   what the call fails with; 0: the call creates FAULT_TRIGGER.stalled and does not return
 *           before the file has another fault, which is then its own, or is gone
 *   after   matching calls that still succeed
 *   path    only files whose path contains this text
 *
 * From the first failure on every matching call fails, as on a disk that has died or is full.
 *
 * `write` is also called by signal handlers (libuv's for SIGCHLD), which may have interrupted malloc
 * or the dynamic linker: nothing here allocates, and the real calls are looked up when loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int current;
static atomic_long matched;

/* The line of the file FAULT_TRIGGER; 0 if there is none. */
static int read_line(const char *trigger, char *text, size_t size) {
  int file = open(trigger, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, size - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  return 1;
}

/* Creates the file FAULT_TRIGGER.stalled, and returns when this fault is over. */
static void stall(const char *trigger, int number) {
  char name[4096];
  char text[512];
  snprintf(name, sizeof name, "%s.stalled", trigger);
  int file = creat(name, 0600);
  if (file >= 0) close(file);
  while (access(trigger, F_OK) == 0) {
    if (read_line(trigger, text, sizeof text) && atoi(text) != number) return;
    usleep(10000);
  }
}

/* Cuts the next word off the line. */
static char *word(char **line) {
  char *start = *line;
  char *end = start + strcspn(start, " \n");
  *line = *end == '\0' ? end : end + 1;
  *end = '\0';
  return start;
}

static int must_fail(const char *kind, const char *path) {
  const char *trigger = getenv("FAULT_TRIGGER");
  if (trigger == NULL) return 0;
  int before = errno;
  char text[512];
  if (!read_line(trigger, text, sizeof text)) {
    errno = before;
    return 0;
  }
  char *line = text;
  int number = atoi(word(&line));
  const char *call = word(&line);
  int error = atoi(word(&line));
  long after = atol(word(&line));
  const char *part = word(&line);
  if (*part == '\0' || strcmp(call, kind) != 0 || strstr(path, part) == NULL) return 0;
  if (atomic_exchange(&current, number) != number) atomic_store(&matched, 0);
  if (atomic_fetch_add(&matched, 1) < after) return 0;
  if (error == 0) {
    stall(trigger, number);
    return must_fail(kind, path);
  }
  errno = error;
  return 1;
}

static int must_fail_file(const char *kind, int file) {
  char link[64];
  char path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return must_fail(kind, path);
}

/* A call that fails with -1 if its file has the fault. */
#define FAULTY(kind, type, name, parameters, ...)                          \
  static type (*real_##name) parameters;                                   \
  type name parameters {                                                   \
    return must_fail_file(kind, file) ? -1 : real_##name(__VA_ARGS__);     \
  }

/* posix_fallocate returns the error itself. */
#define FAULTY_ALLOCATE(name, offset)                                      \
  static int (*real_##name)(int, offset, offset);                          \
  int name(int file, offset at, offset length) {                           \
    return must_fail_file("allocate", file) ? errno : real_##name(file, at, length); \
  }

FAULTY("sync", int, fdatasync, (int file), file)
FAULTY("sync", int, fsync, (int file), file)
FAULTY("write", ssize_t, write, (int file, const void *bytes, size_t length), file, bytes, length)
FAULTY("write", ssize_t, writev, (int file, const struct iovec *parts, int count),
       file, parts, count)
FAULTY("write", ssize_t, pwrite, (int file, const void *bytes, size_t length, off_t at),
       file, bytes, length, at)
FAULTY("write", ssize_t, pwrite64, (int file, const void *bytes, size_t length, off64_t at),
       file, bytes, length, at)
FAULTY("write", ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t at),
       file, parts, count, at)
FAULTY("write", ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t at),
       file, parts, count, at)
FAULTY("truncate", int, ftruncate, (int file, off_t length), file, length)
FAULTY("truncate", int, ftruncate64, (int file, off64_t length), file, length)
FAULTY("allocate", int, fallocate, (int file, int mode, off_t at, off_t length),
       file, mode, at, length)
FAULTY("allocate", int, fallocate64, (int file, int mode, off64_t at, off64_t length),
       file, mode, at, length)
FAULTY_ALLOCATE(posix_fallocate, off_t)
FAULTY_ALLOCATE(posix_fallocate64, off64_t)

static int (*real_rename)(const char *, const char *);
int rename(const char *from, const char *to) {
  return must_fail("rename", to) ? -1 : real_rename(from, to);
}

static int (*real_link)(const char *, const char *);
int link(const char *from, const char *to) {
  return must_fail("link", to) ? -1 : real_link(from, to);
}

#define FIND(name) real_##name = (__typeof__(real_##name))dlsym(RTLD_NEXT, #name)

__attribute__((constructor)) static void find_real_calls(void) {
  FIND(fdatasync);
  FIND(fsync);
  FIND(write);
  FIND(writev);
  FIND(pwrite);
  FIND(pwrite64);
  FIND(pwritev);
  FIND(pwritev64);
  FIND(ftruncate);
  FIND(ftruncate64);
  FIND(fallocate);
  FIND(fallocate64);
  FIND(posix_fallocate);
  FIND(posix_fallocate64);
  FIND(rename);
  FIND(link);
}
