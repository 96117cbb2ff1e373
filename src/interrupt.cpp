#include "interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "error.h"

namespace teeny::tool {

namespace {

volatile std::sig_atomic_t g_signal = 0;
std::array<int, 2> g_pipe = {-1, -1};

void on_signal(int signal) {
  const int saved = errno;
  if (signal != SIGCHLD) g_signal = signal;
  const char byte = 0;
  // A full pipe is readable already, which is all that is wanted.
  [[maybe_unused]] const ssize_t ignored = ::write(g_pipe[1], &byte, 1);
  errno = saved;
}

}  // namespace

void catch_interrupts() {
  if (g_pipe[0] >= 0) return;
  if (::pipe(g_pipe.data()) != 0) {
    const int code = errno;
    throw SystemError(code, "pipe", "signals");
  }
  for (const int fd : g_pipe) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    // Whoever started us with `nohup` wants the signal ignored.
    if (before.sa_handler == SIG_IGN && signal != SIGCHLD) continue;
    ::sigaction(signal, &action, nullptr);
  }
}

void throw_if_interrupted() {
  if (g_signal != 0) throw Interrupted(g_signal);
}

int interrupt_fd() noexcept { return g_pipe[0]; }

void drain_interrupt_fd() noexcept {
  std::array<char, 64> bytes{};
  while (::read(g_pipe[0], bytes.data(), bytes.size()) > 0) {
  }
}

void sleep_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    throw_if_interrupted();
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    pollfd wait{interrupt_fd(), POLLIN, 0};
    if (::poll(&wait, 1, static_cast<int>(left.count())) > 0) drain_interrupt_fd();
  }
}

}  // namespace teeny::tool
