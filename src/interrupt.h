// SIGINT, SIGTERM and SIGHUP as something to wait for: they end the program by unwinding, so that
// the compiler is ended with us and no temporary stays behind.
#pragma once

#include <chrono>

namespace teeny::tool {

/// Installs the handlers (and one for SIGCHLD). Called once, by main() or a test.
void catch_interrupts();

/// Throws Interrupted if one of the signals came since catch_interrupts().
void throw_if_interrupted();

/// Readable whenever a handler ran; for poll(). -1 before catch_interrupts().
[[nodiscard]] int interrupt_fd() noexcept;

/// Empties interrupt_fd(), so that the next signal is seen again.
void drain_interrupt_fd() noexcept;

/// Sleeps; throws Interrupted early when a signal comes.
void sleep_for(std::chrono::milliseconds time);

}  // namespace teeny::tool
