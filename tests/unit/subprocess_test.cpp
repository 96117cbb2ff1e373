#include "subprocess.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "error.h"
#include "temporary_directory.h"

namespace teeny::tool {
namespace {

Completed sh(const std::string& script) {
  return run_command({{"/bin/sh", "-c", script}, {"PATH=/usr/bin:/bin", "A=1"}, {}});
}

TEST(Subprocess, BothStreamsAndTheStatus) {
  const Completed completed = sh("echo out; echo err >&2; exit 3");
  EXPECT_EQ(completed.standard_output, "out\n");
  EXPECT_EQ(completed.standard_error, "err\n");
  EXPECT_FALSE(completed.succeeded());
  EXPECT_EQ(completed.describe_status(), "exit status 3");
  EXPECT_EQ(sh("kill -ABRT $$").describe_status().substr(0, 10), "signal 6 (");
}

TEST(Subprocess, MuchOutputOnBothStreams) {
  const Completed completed = sh("head -c 1000000 /dev/zero >&2 & head -c 1000000 /dev/zero; wait");
  EXPECT_EQ(completed.standard_output.size(), 1000000U);
  EXPECT_EQ(completed.standard_error.size(), 1000000U);
}

TEST(Subprocess, EnvironmentIsExactAndInputEmpty) {
  const Completed completed =
      sh("env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort; cat");
  EXPECT_EQ(completed.standard_output, "A=1\nPATH=/usr/bin:/bin\n");
}

TEST(Subprocess, WorkingDirectory) {
  const TemporaryDirectory directory;
  const Completed completed = run_command({{"/bin/pwd"}, {}, directory.path()});
  EXPECT_EQ(completed.standard_output, directory.path().string() + "\n");
}

TEST(Subprocess, AProgramThatIsNotThere) {
  try {
    (void)run_command({{"/no/such/program"}, {}, {}});
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.code(), ENOENT);
  }
}

TEST(Subprocess, DoesNotWaitForWhoeverIsLeftBehind) {
  const auto begin = std::chrono::steady_clock::now();
  const Completed completed = sh("sleep 30 & echo $!");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  ::kill(std::stoi(completed.standard_output), SIGKILL);
}

TEST(ShellQuoted, PastesBack) {
  const std::vector<std::string> words = {"a", "", "b c", "it's", "$x", "--o=\"q\"", "ä;", "*"};
  std::string script = "for w in " + shell_quoted(words) + "; do printf '<%s>' \"$w\"; done";
  EXPECT_EQ(sh(script).standard_output, "<a><><b c><it's><$x><--o=\"q\"><ä;><*>");
}

}  // namespace
}  // namespace teeny::tool
