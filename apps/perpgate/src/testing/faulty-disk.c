/*
 * A library for LD_PRELOAD that makes one kind of system call fail, for tests of failing disks.
 *
 * Calls fail while the file FAULT_TRIGGER exists. It has one line, "number call errno after path":
 *
 *   number  of the fault; another number is another fault and starts its own count
 *   call    sync (fdatasync, fsync), write (write, writev, pwrite, pwritev),
 *           truncate (ftruncate), allocate (fallocate, posix_fallocate), rename
 *   errno   what the call fails with; 0: the call never returns, and creates FAULT_TRIGGER.stalled
 *   after   matching calls that still succeed
 *   path    only files whose path contains this text
 *
 * From the first failure on every matching call fails, as on a disk that has died or is full.
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

/* Creates the file FAULT_TRIGGER.stalled and never returns. */
static void stall(const char *trigger) {
  char name[4096];
  snprintf(name, sizeof name, "%s.stalled", trigger);
  int file = creat(name, 0600);
  if (file >= 0) close(file);
  for (;;) pause();
}

static int must_fail(const char *kind, const char *path) {
  const char *trigger = getenv("FAULT_TRIGGER");
  if (trigger == NULL || access(trigger, F_OK) != 0) return 0;
  int number, error;
  long after;
  char call[16], part[256];
  FILE *file = fopen(trigger, "re");
  if (file == NULL) return 0;
  int fields = fscanf(file, "%d %15s %d %ld %255s", &number, call, &error, &after, part);
  fclose(file);
  if (fields != 5 || strcmp(call, kind) != 0 || strstr(path, part) == NULL) return 0;
  if (atomic_exchange(&current, number) != number) atomic_store(&matched, 0);
  if (atomic_fetch_add(&matched, 1) < after) return 0;
  if (error == 0) stall(trigger);
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

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int fdatasync(int file) {
  return must_fail_file("sync", file) ? -1 : REAL(fdatasync)(file);
}

int fsync(int file) {
  return must_fail_file("sync", file) ? -1 : REAL(fsync)(file);
}

ssize_t write(int file, const void *bytes, size_t length) {
  return must_fail_file("write", file) ? -1 : REAL(write)(file, bytes, length);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  return must_fail_file("write", file) ? -1 : REAL(writev)(file, parts, count);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
  return must_fail_file("write", file) ? -1 : REAL(pwrite)(file, bytes, length, at);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
  return must_fail_file("write", file) ? -1 : REAL(pwrite64)(file, bytes, length, at);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at) {
  return must_fail_file("write", file) ? -1 : REAL(pwritev)(file, parts, count, at);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t at) {
  return must_fail_file("write", file) ? -1 : REAL(pwritev64)(file, parts, count, at);
}

int ftruncate(int file, off_t length) {
  return must_fail_file("truncate", file) ? -1 : REAL(ftruncate)(file, length);
}

int ftruncate64(int file, off64_t length) {
  return must_fail_file("truncate", file) ? -1 : REAL(ftruncate64)(file, length);
}

int fallocate(int file, int mode, off_t at, off_t length) {
  return must_fail_file("allocate", file) ? -1 : REAL(fallocate)(file, mode, at, length);
}

int fallocate64(int file, int mode, off64_t at, off64_t length) {
  return must_fail_file("allocate", file) ? -1 : REAL(fallocate64)(file, mode, at, length);
}

int posix_fallocate(int file, off_t at, off_t length) {
  return must_fail_file("allocate", file) ? errno : REAL(posix_fallocate)(file, at, length);
}

int posix_fallocate64(int file, off64_t at, off64_t length) {
  return must_fail_file("allocate", file) ? errno : REAL(posix_fallocate64)(file, at, length);
}

int rename(const char *from, const char *to) {
  return must_fail("rename", to) ? -1 : REAL(rename)(from, to);
}
