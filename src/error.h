// The one error dialect of the program. A message reads `operation(object): reason`; it is printed
// once, by main(), and its kind alone decides the exit code. Nothing branches on message text.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace teeny::tool {

/// Who has to act. The numeric value is the exit code of the program.
enum class ErrorKind {
  kernel = 1,       ///< the user's kernel does not compile
  usage = 2,        ///< wrong arguments
  environment = 3,  ///< compiler missing, output not writable, ...
};

/// Everything that ends a subcommand early.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }
  [[nodiscard]] int exit_code() const noexcept { return static_cast<int>(kind_); }

 private:
  ErrorKind kind_;
};

/// A failed system call. Of kind `environment`; `code()` is its errno, so that a caller may decide
/// by it (a cache failure is a warning, an output failure is not).
class SystemError : public Error {
 public:
  /// `code` is the errno value of the failed call, saved by the caller before anything else ran.
  SystemError(int code, std::string_view operation, std::string_view object);
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A compiler that failed, or wrote what is no kernel. Of kind `kernel`.
class CompileFailed : public Error {
 public:
  /// `diagnostics` is the compiler's whole standard error, shown apart from the message.
  CompileFailed(const std::string& message, std::string diagnostics)
      : Error(ErrorKind::kernel, message), diagnostics_(std::move(diagnostics)) {}
  [[nodiscard]] const std::string& diagnostics() const noexcept { return diagnostics_; }

 private:
  std::string diagnostics_;
};

/// Thrown after SIGINT, SIGTERM or SIGHUP so that temporaries are removed by unwinding; main() then
/// dies of the same signal.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal) : signal_(signal) {}
  [[nodiscard]] int signal() const noexcept { return signal_; }
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }

 private:
  int signal_;
};

}  // namespace teeny::tool
