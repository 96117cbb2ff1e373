/* Preloaded: flock() fails or hangs for the process.
 *   FLOCK_FAULT=<errno number>      every call fails with it
 *   FLOCK_FAULT=<errno number>:<n>  the first n calls do
 *   FLOCK_FAULT=hang                no call comes back within an hour
 *   FLOCK_FAULT=no_thread           flock() works, but no thread can be started (EAGAIN) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_long calls;

int flock(int fd, int operation) {
  static int (*real)(int, int);
  const char *fault = getenv("FLOCK_FAULT");
  if (real == NULL) real = (int (*)(int, int))dlsym(RTLD_NEXT, "flock");
  if (fault != NULL && strcmp(fault, "hang") == 0) {
    struct timespec hour = {3600, 0};
    nanosleep(&hour, NULL);
  } else if (fault != NULL && *fault >= '0' && *fault <= '9') {
    const char *count = strchr(fault, ':');
    if (count == NULL || atomic_fetch_add(&calls, 1) < atol(count + 1)) {
      errno = atoi(fault);
      return -1;
    }
  }
  return real(fd, operation);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  const char *fault = getenv("FLOCK_FAULT");
  if (fault != NULL && strcmp(fault, "no_thread") == 0) return EAGAIN;
  if (real == NULL) {
    real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
  }
  return real(thread, attributes, run, argument);
}
