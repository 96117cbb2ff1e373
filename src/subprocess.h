// Runs one program to its end. The only place that forks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace teeny::tool {

/// What to run. Never goes through a shell.
struct Command {
  std::vector<std::string> arguments;    ///< [0] is the program; looked up on PATH without a slash
  std::vector<std::string> environment;  ///< the whole environment of the child, NAME=value each
  std::filesystem::path working_directory;  ///< empty: ours
};

/// How it ended, and all that it wrote.
struct Completed {
  int wait_status = 0;  ///< as waitpid(2) gives it
  std::string standard_output;
  std::string standard_error;

  [[nodiscard]] bool succeeded() const noexcept { return wait_status == 0; }
  /// `exit status 1`, or `signal 6 (Aborted)`.
  [[nodiscard]] std::string describe_status() const;
};

/// Starts the program in a process group of its own with an empty standard input, drains both its
/// pipes, and waits for it (not for children that it leaves behind). When we are interrupted the
/// whole group is ended and Interrupted is thrown; when we are killed the kernel kills the program
/// (Linux). Throws SystemError when the program can't be started.
[[nodiscard]] Completed run_command(const Command& command);

/// Our own environment as Command::environment wants it.
[[nodiscard]] std::vector<std::string> current_environment();

/// Text that pastes into a POSIX shell as one command line.
[[nodiscard]] std::string shell_quoted(const std::vector<std::string>& arguments);

}  // namespace teeny::tool
