#include "cache_statistics.h"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "atomic_file.h"
#include "error.h"
#include "file.h"
#include "file_lock.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int k_format = 1;

std::string day_name(std::time_t time) {
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d", &utc);
  return text.data();
}

// Of this host: appending is atomic only among writers of one kernel.
std::string log_name() {
  std::array<char, 128> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {'x'};
  std::string name = host.data();
  for (char& c : name) {
    if (c == '/' || c == '.') c = '_';
  }
  return day_name(std::time(nullptr)) + "." + name + ".log";
}

fs::path summary_file(const fs::path& directory) { return directory / "summary.json"; }

template <typename Number>
bool read_number(std::istream& line, Number& value) {
  return static_cast<bool>(line >> value);
}

// `hit <bytes> <seconds>`, `store <bytes> <seconds>`, `miss <reason>`.
void add_line(const std::string& text, CacheStatistics& sums) {
  std::istringstream line(text);
  std::string event;
  line >> event;
  std::uint64_t bytes = 0;
  double seconds = 0;
  if (event == "miss") {
    std::string reason;
    std::getline(line >> std::ws, reason);
    if (!reason.empty()) ++sums.misses[reason];
  } else if ((event == "hit" || event == "store") && read_number(line, bytes) &&
             read_number(line, seconds)) {
    if (event == "hit") {
      ++sums.hits;
      sums.saved_bytes += bytes;
      sums.saved_seconds += seconds;
    } else {
      ++sums.stores;
      sums.stored_bytes += bytes;
      sums.stored_seconds += seconds;
    }
  }
}

CacheStatistics read_log(const fs::path& file) {
  CacheStatistics sums;
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) add_line(line, sums);
  return sums;
}

// What was summed up, and from which logs: those do not count again if they are still there.
struct Summary {
  CacheStatistics sums;
  std::set<std::string> logs;
};

Summary read_summary(const fs::path& directory) {
  Summary summary;
  try {
    const Json json = Json::parse(read_file(summary_file(directory)));
    if (json.at("format") != k_format) return summary;
    CacheStatistics& sums = summary.sums;
    json.at("hits").get_to(sums.hits);
    json.at("misses").get_to(sums.misses);
    json.at("stores").get_to(sums.stores);
    json.at("stored_bytes").get_to(sums.stored_bytes);
    json.at("stored_seconds").get_to(sums.stored_seconds);
    json.at("saved_bytes").get_to(sums.saved_bytes);
    json.at("saved_seconds").get_to(sums.saved_seconds);
    json.at("logs").get_to(summary.logs);
    return summary;
  } catch (const std::exception&) {
    return {};
  }
}

std::vector<fs::path> logs_in(const fs::path& directory) {
  std::vector<fs::path> logs;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, failed)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  return logs;
}

}  // namespace

CacheStatistics& CacheStatistics::operator+=(const CacheStatistics& other) {
  hits += other.hits;
  for (const auto& [reason, count] : other.misses) misses[reason] += count;
  stores += other.stores;
  stored_bytes += other.stored_bytes;
  stored_seconds += other.stored_seconds;
  saved_bytes += other.saved_bytes;
  saved_seconds += other.saved_seconds;
  return *this;
}

StatisticsLog::StatisticsLog(fs::path cache, std::optional<mode_t> file_mode)
    : directory_(std::move(cache) / "stats"), file_mode_(file_mode) {}

void StatisticsLog::hit(std::uint64_t bytes, double compile_seconds) const noexcept try {
  append(fmt::format("hit {} {:.3f}\n", bytes, compile_seconds));
} catch (const std::exception&) {
}

void StatisticsLog::miss(std::string_view reason) const noexcept try {
  append(fmt::format("miss {}\n", reason));
} catch (const std::exception&) {
}

void StatisticsLog::store(std::uint64_t bytes, double compile_seconds) const noexcept try {
  append(fmt::format("store {} {:.3f}\n", bytes, compile_seconds));
} catch (const std::exception&) {
}

void StatisticsLog::append(const std::string& line) const {
  const fs::path file = directory_ / log_name();
  constexpr int k_flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  FileDescriptor fd;
  try {
    fd = open_file(file, k_flags, 0666);
  } catch (const SystemError& error) {
    if (error.code() != ENOENT) throw;
    constexpr mode_t k_group_directory = 02775;
    if (::mkdir(directory_.c_str(), 0777) == 0 && file_mode_) {
      ::chmod(directory_.c_str(), k_group_directory);
    }
    fd = open_file(file, k_flags, 0666);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (file_mode_ && status.st_uid == ::geteuid() && (status.st_mode & 07777U) != *file_mode_) {
    [[maybe_unused]] const int ignored = ::fchmod(fd.get(), *file_mode_);
  }
  // One write, never continued: a part of a line is worse than none.
  [[maybe_unused]] const ssize_t ignored = ::write(fd.get(), line.data(), line.size());
}

CacheStatistics read_statistics(const fs::path& cache) {
  const fs::path directory = cache / "stats";
  // The logs first: one that is summed up in between is then known by its name.
  const std::vector<fs::path> logs = logs_in(directory);
  std::map<std::string, CacheStatistics> by_name;
  for (const fs::path& log : logs) {
    try {
      by_name[log.filename().string()] = read_log(log);
    } catch (const SystemError&) {
      // Summed up and deleted since it was listed.
    }
  }
  Summary summary = read_summary(directory);
  for (const auto& [name, sums] : by_name) {
    if (!summary.logs.contains(name)) summary.sums += sums;
  }
  return summary.sums;
}

void condense_statistics(const fs::path& cache, std::optional<mode_t> file_mode) {
  const fs::path directory = cache / "stats";
  constexpr std::time_t k_day = 24 * 60 * 60;
  const std::string yesterday = day_name(std::time(nullptr) - k_day);
  std::vector<fs::path> old;
  for (const fs::path& log : logs_in(directory)) {
    if (log.filename().string() < yesterday) old.push_back(log);
  }
  if (old.empty()) return;
  constexpr LockTiming k_no_wait = {std::chrono::seconds(1), std::chrono::seconds(1),
                                    std::chrono::seconds(0)};
  const auto lock = FileLock::acquire(directory / "lock", file_mode, {}, k_no_wait);
  if (!lock) return;
  Summary summary = read_summary(directory);
  // Names stay until their logs are long gone, for whoever has read such a log before this.
  std::erase_if(summary.logs, [&](const std::string& name) {
    std::error_code failed;
    return !fs::exists(directory / name, failed);
  });
  for (const fs::path& log : old) {
    if (summary.logs.insert(log.filename().string()).second) summary.sums += read_log(log);
  }
  const CacheStatistics& sums = summary.sums;
  const Json json = {{"format", k_format},
                     {"hits", sums.hits},
                     {"misses", sums.misses},
                     {"stores", sums.stores},
                     {"stored_bytes", sums.stored_bytes},
                     {"stored_seconds", sums.stored_seconds},
                     {"saved_bytes", sums.saved_bytes},
                     {"saved_seconds", sums.saved_seconds},
                     {"logs", summary.logs}};
  AtomicFile(summary_file(directory), json.dump(), Durability::sync, file_mode).commit();
  for (const fs::path& log : old) remove_file(log);
}

}  // namespace teeny::tool
