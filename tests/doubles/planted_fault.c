/* Preloaded: makes the helper behave as if it had a defect, to show that the fault harness sees it.
 *   PLANTED_FAULT=manifest_first      the manifest of an entry is renamed before its members
 *   PLANTED_FAULT=keep_temporaries    a temporary file is not removed
 *   PLANTED_FAULT=keep_output         what an earlier run left at the output is not removed first
 *   PLANTED_FAULT=output_in_place     the output is written under its own name, not renamed to it
 *   PLANTED_FAULT=reopen              an output needs the published object to be opened again */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_planted(const char *name) {
  const char *fault = getenv("PLANTED_FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

static int ends_with(const char *text, const char *ending) {
  size_t size = strlen(text), wanted = strlen(ending);
  return size >= wanted && strcmp(text + size - wanted, ending) == 0;
}

static int is_member(const char *path) { return ends_with(path, ".o") || ends_with(path, ".rs") || ends_with(path, ".mlir"); }

static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);

__attribute__((constructor)) static void find(void) {
  real_rename = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
  real_unlink = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
}

int rename(const char *from, const char *to) {
  static char waiting[8][2][4096], published[4096];
  static int count;
  if (is_planted("reopen") && strstr(to, "/cache/") != NULL && ends_with(to, ".o")) {
    snprintf(published, sizeof published, "%s", to);
  }
  if (is_planted("reopen") && strstr(to, "/out/") != NULL && *published != '\0') {
    int fd = open(published, O_RDONLY);
    if (fd < 0) return -1;
    close(fd);
  }
  if (is_planted("manifest_first") && strstr(to, "/cache/") != NULL) {
    if (is_member(to) && count < 8) {
      snprintf(waiting[count][0], sizeof waiting[0][0], "%s", from);
      snprintf(waiting[count++][1], sizeof waiting[0][1], "%s", to);
      return 0;
    }
    int result = real_rename(from, to);
    if (ends_with(to, ".json")) {
      for (int i = 0; i < count; ++i) real_rename(waiting[i][0], waiting[i][1]);
      count = 0;
    }
    return result;
  }
  if (is_planted("output_in_place") && strstr(to, "/out/") != NULL) {
    char buffer[4096];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || out < 0) return -1;
    for (ssize_t got; (got = read(in, buffer, sizeof buffer)) > 0;) {
      ssize_t half = got / 2;
      if (write(out, buffer, (size_t)half) != half || write(out, buffer + half, (size_t)(got - half)) != got - half) {
        return -1;
      }
    }
    close(in);
    close(out);
    return real_unlink(from);
  }
  return real_rename(from, to);
}

int unlink(const char *path) {
  if (is_planted("keep_temporaries") && strstr(path, ".tmp.") != NULL) return 0;
  if (is_planted("keep_output") && ends_with(path, "/out/kernel.ptx")) return 0;
  return real_unlink(path);
}
