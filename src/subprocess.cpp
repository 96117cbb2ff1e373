#include "subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string_view>

#include "error.h"
#include "file.h"
#include "interrupt.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has no header for it

namespace teeny::tool {

namespace {

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> fds{};
  if (::pipe(fds.data()) != 0) {
    const int code = errno;
    throw SystemError(code, "pipe", "subprocess");
  }
  Pipe made{FileDescriptor(fds[0]), FileDescriptor(fds[1])};
  for (const int fd : fds) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return made;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// Between fork and exec: only async-signal-safe calls, nothing that allocates.
[[noreturn]] void become(const std::vector<char*>& argv, const std::vector<char*>& envp,
                         const char* directory, int output, int error, int report, pid_t parent) {
  ::setpgid(0, 0);
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (::getppid() != parent) ::_exit(127);
  ::signal(SIGPIPE, SIG_DFL);
  const int input = ::open("/dev/null", O_RDONLY);
  if (input >= 0 && ::dup2(input, 0) >= 0 && (input == 0 || ::close(input) == 0) &&
      ::dup2(output, 1) >= 0 && ::dup2(error, 2) >= 0 &&
      (*directory == '\0' || ::chdir(directory) == 0)) {
    environ = const_cast<char**>(envp.data());
    ::execvp(argv[0], argv.data());
  }
  const int code = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(report, &code, sizeof code);
  ::_exit(127);
}

// The child of one run_command(); ends its whole group when dropped before it was reaped.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    ::kill(-pid_, SIGTERM);
    // A compiler that cleans up gets a moment for it.
    for (int i = 0; i < 50; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
        ::kill(-pid_, SIGKILL);
        return;
      }
      ::poll(nullptr, 0, 10);
    }
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] bool reap(int& status) {
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    pid_ = -1;
    return true;
  }

 private:
  pid_t pid_;
};

// Reads what is there. False at the end of the stream.
bool drain(int fd, std::string& into) {
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

}  // namespace

std::string Completed::describe_status() const {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
  }
  return "exit status " + std::to_string(WEXITSTATUS(wait_status));
}

Completed run_command(const Command& command) {
  catch_interrupts();
  throw_if_interrupted();
  const std::vector<char*> argv = pointers(command.arguments);
  const std::vector<char*> envp = pointers(command.environment);
  Pipe output = make_pipe();
  Pipe error = make_pipe();
  Pipe report = make_pipe();

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int code = errno;
    throw SystemError(code, "fork", command.arguments.front());
  }
  if (pid == 0) {
    become(argv, envp, command.working_directory.c_str(), output.write_end.get(),
           error.write_end.get(), report.write_end.get(), parent);
  }
  Child child(pid);
  ::setpgid(pid, pid);  // in both: whoever comes first
  output.write_end.reset();
  error.write_end.reset();
  report.write_end.reset();

  int exec_error = 0;
  ssize_t got = 0;
  do {
    got = ::read(report.read_end.get(), &exec_error, sizeof exec_error);
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof exec_error)) {
    throw SystemError(exec_error, "exec", command.arguments.front());
  }

  Completed completed;
  for (const Pipe* pipe : {&output, &error}) {
    ::fcntl(pipe->read_end.get(), F_SETFL, O_NONBLOCK);
  }
  while (!child.reap(completed.wait_status)) {
    throw_if_interrupted();
    std::array<pollfd, 3> waits = {pollfd{output.read_end.get(), POLLIN, 0},
                                   pollfd{error.read_end.get(), POLLIN, 0},
                                   pollfd{interrupt_fd(), POLLIN, 0}};
    // SIGCHLD wakes us by interrupt_fd(); the bound is for a signal lost to somebody's handler.
    constexpr int k_bound_ms = 500;
    ::poll(waits.data(), waits.size(), k_bound_ms);
    if (output.read_end.is_open() && !drain(output.read_end.get(), completed.standard_output)) {
      output.read_end.reset();
    }
    if (error.read_end.is_open() && !drain(error.read_end.get(), completed.standard_error)) {
      error.read_end.reset();
    }
    drain_interrupt_fd();
  }
  // What it wrote last. No waiting for the end of the streams: a grandchild may hold them open.
  if (output.read_end.is_open()) drain(output.read_end.get(), completed.standard_output);
  if (error.read_end.is_open()) drain(error.read_end.get(), completed.standard_error);
  return completed;
}

std::vector<std::string> current_environment() {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) result.emplace_back(*variable);
  return result;
}

std::string shell_quoted(const std::vector<std::string>& arguments) {
  constexpr std::string_view k_plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_";
  std::string line;
  for (const std::string& argument : arguments) {
    if (!line.empty()) line += ' ';
    if (!argument.empty() && argument.find_first_not_of(k_plain) == std::string::npos) {
      line += argument;
      continue;
    }
    line += '\'';
    for (const char c : argument) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

}  // namespace teeny::tool
