/* The least that passes for teenyc: starts in a millisecond, for tests that compile thousands of times.
 *
 * Takes the argv of the helper (`<dir>/<function>_<key>.rs … -o<dir>/<function>_<key>.o … -Ctarget-cpu=<cpu>`) and writes
 * PTX and MLIR whose text depends on the source alone: an entry point with the parameters (pointers and 32-bit numbers) of
 * `fn <function>_entry_point(…)` and the two hidden ones. Files beside the program, all optional:
 *   <argv[0]>.log    gets a line `<function> <cpu> <pid>` for each compile, by one append
 *   <argv[0]>.nonce  when it exists, both outputs carry the same random `nonce=<hex>`
 *   <argv[0]>.sleep  milliseconds to wait before anything is written
 * Built with -DWITH_LIBRARY it also writes what `library_text()` of a shared library says. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_LIBRARY
const char *library_text(void);
#else
static const char *library_text(void) { return "none"; }
#endif

static char text[1 << 16], content[1 << 18];

static const char *beside(const char *program, const char *ending) {
  static char path[4096];
  snprintf(path, sizeof path, "%s%s", program, ending);
  return path;
}

static void fail(const char *what) {
  fprintf(stderr, "error: fast_teenyc: %s\n", what);
  exit(1);
}

static void write_file(const char *path, const char *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) fail(path);
}

/* PTX parameters of the entry point in `content`. */
static const char *parameters(const char *function) {
  static char list[4096];
  char name[300], *end;
  int used = 0, number = 0;
  snprintf(name, sizeof name, "fn %s_entry_point(", function);
  char *at = strstr(content, name);
  if (at == NULL || (end = strchr(at, ')')) == NULL) fail("no entry point");
  *end = '\0';
  for (char *one = strtok(at + strlen(name), ","); one != NULL; one = strtok(NULL, ",")) {
    if (strchr(one, ':') == NULL) continue;
    const char *type = strchr(one, '*') != NULL ? "u64" : strstr(one, "f32") != NULL ? "f32" : "u32";
    used += snprintf(list + used, sizeof list - (size_t)used, "\t.param .%s p%d,\n", type, number++);
  }
  snprintf(list + used, sizeof list - (size_t)used, "\t.param .u64 p%d,\n\t.param .u64 p%d\n", number, number + 1);
  return list;
}

int main(int argc, char **argv) {
  const char *source = argc > 1 ? argv[1] : "", *cpu = "sm_80";
  char output[4096] = "", function[256], nonce[33] = "";
  uint64_t digest = 1469598103934665603u;
  for (int i = 2; i < argc; ++i) {
    if (strncmp(argv[i], "-o", 2) == 0) snprintf(output, sizeof output, "%s", argv[i] + 2);
    if (strncmp(argv[i], "-Ctarget-cpu=", 13) == 0) cpu = argv[i] + 13;
  }
  const char *name = strrchr(source, '/'), *end = strrchr(source, '_');
  if (name == NULL || end == NULL || end < name || *output == '\0') fail("not the command line of the helper");
  snprintf(function, sizeof function, "%.*s", (int)(end - name - 1), name + 1);

  FILE *file = fopen(source, "rb");
  if (file == NULL) fail(source);
  size_t length = fread(content, 1, sizeof content - 1, file);
  fclose(file);
  for (size_t i = 0; i < length; ++i) digest = (digest ^ (unsigned char)content[i]) * 1099511628211u;

  int log = open(beside(argv[0], ".log"), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (log >= 0) {
    int size = snprintf(text, sizeof text, "%s %s %d\n", function, cpu, (int)getpid());
    if (write(log, text, (size_t)size) != size) fail("log");
    close(log);
  }
  if ((file = fopen(beside(argv[0], ".sleep"), "r")) != NULL) {
    long milliseconds = 0;
    if (fscanf(file, "%ld", &milliseconds) == 1) {
      struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
      nanosleep(&time, NULL);
    }
    fclose(file);
  }
  if (access(beside(argv[0], ".nonce"), F_OK) == 0) {
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) fail("getrandom");
    for (int i = 0; i < 16; ++i) sprintf(nonce + 2 * i, "%02x", bytes[i]);
  }

  int size = snprintf(text, sizeof text,
                      ".version 8.6\n.target %s\n.address_size 64\n\n// source %016llx library %s nonce=%s\n"
                      ".visible .entry %s_entry_point(\n%s)\n{\n\tret;\n}\n",
                      cpu, (unsigned long long)digest, library_text(), nonce, function, parameters(function));
  write_file(output, text, (size_t)size);
  strcpy(strrchr(output, '.'), ".mlir");
  size = snprintf(text, sizeof text, "module { // %s %s %016llx library %s nonce=%s\n}\n", function, cpu,
                  (unsigned long long)digest, library_text(), nonce);
  write_file(output, text, (size_t)size);
  return 0;
}
