#include "cache_command.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "cache_maintenance.h"
#include "cache_settings.h"
#include "cache_statistics.h"
#include "error.h"
#include "kernel_inputs.h"

namespace teeny::tool {

namespace {

using Json = nlohmann::ordered_json;

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t k_mebibyte = std::uint64_t{1} << 20U;
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / static_cast<double>(k_mebibyte));
}

std::string removal_text(const PruneReport& report) {
  return fmt::format("deleted {} entries ({}) and {} old temporaries; {} entries ({}) are left\n",
                     report.deleted_entries, size_text(report.deleted_bytes),
                     report.deleted_temporaries, report.left.entries, size_text(report.left.bytes));
}

// A field's values in order: options and depends occur more than once.
std::map<std::string, std::vector<std::string>> by_name(const Manifest& manifest) {
  std::map<std::string, std::vector<std::string>> values;
  for (const auto& [name, value] : manifest.fields) values[name].push_back(value);
  values["arch"] = {manifest.arch};
  values["ptx_version"] = {manifest.ptx_version ? std::to_string(*manifest.ptx_version)
                                                : std::string("default")};
  return values;
}

struct Difference {
  std::string field;
  std::vector<std::string> wanted;
  std::vector<std::string> there;
};

std::vector<Difference> differences(const Manifest& wanted, const Manifest& there) {
  auto ours = by_name(wanted);
  auto theirs = by_name(there);
  std::set<std::string> names;
  for (const auto& [name, values] : ours) names.insert(name);
  for (const auto& [name, values] : theirs) names.insert(name);
  std::vector<Difference> result;
  for (const std::string& name : names) {
    if (ours[name] != theirs[name]) result.push_back({name, ours[name], theirs[name]});
  }
  return result;
}

}  // namespace

std::string cache_stats_text(const CompileCache& cache, ReportFormat format) {
  const CacheStatistics sums = read_statistics(cache.root());
  const CacheContents contents = cache_contents(cache.root());
  std::uint64_t misses = 0;
  for (const auto& [reason, count] : sums.misses) misses += count;
  if (format == ReportFormat::json) {
    Json reasons = Json::object();
    for (const auto& [reason, count] : sums.misses) reasons[reason] = count;
    const Json json = {{"directory", cache.root().string()},
                       {"hits", sums.hits},
                       {"misses", misses},
                       {"misses_by_reason", reasons},
                       {"stores", sums.stores},
                       {"stored_bytes", sums.stored_bytes},
                       {"stored_compile_seconds", sums.stored_seconds},
                       {"saved_bytes", sums.saved_bytes},
                       {"saved_compile_seconds", sums.saved_seconds},
                       {"entries", contents.entries},
                       {"bytes", contents.bytes}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  std::string text = fmt::format("{}\n", cache.root().string());
  const auto row = [&text](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<28} {:>12}\n", name, value);
  };
  row("hits", std::to_string(sums.hits));
  row("misses", std::to_string(misses));
  for (const auto& [reason, count] : sums.misses) row("  " + reason, std::to_string(count));
  row("compile time saved", fmt::format("{:.1f} s", sums.saved_seconds));
  row("compile time spent", fmt::format("{:.1f} s", sums.stored_seconds));
  row("images from the cache", size_text(sums.saved_bytes));
  row("images stored", size_text(sums.stored_bytes));
  row("entries", std::to_string(contents.entries));
  row("size", size_text(contents.bytes));
  return text;
}

std::string cache_verify_text(const CompileCache& cache, bool repair) {
  const VerifyReport report = verify_cache(cache, repair ? Repair::yes : Repair::no);
  std::string text;
  for (const DamagedEntry& entry : report.damaged) {
    text += fmt::format("{}: {}{}\n", entry.name, entry.reason, repair ? "; deleted" : "");
  }
  text += fmt::format("{} sound, {} damaged\n", report.sound, report.damaged.size());
  if (!repair && !report.damaged.empty()) {
    throw Error(ErrorKind::environment,
                fmt::format("verify({}): damaged entries; --repair deletes them\n{}",
                            cache.root().string(), text));
  }
  return text;
}

std::string cache_prune_text(const CompileCache& cache, std::optional<std::uint64_t> max_bytes,
                             std::optional<std::chrono::seconds> max_age) {
  const CacheSettings settings = read_cache_settings(cache.root());
  PruneLimits limits;
  limits.max_bytes = max_bytes ? max_bytes : std::optional(settings.max_bytes);
  limits.max_age = max_age ? max_age : settings.max_age;
  std::string text = removal_text(prune_cache(cache, limits));
  condense_statistics(cache.root(), cache.file_mode());
  return text;
}

std::string cache_clear_text(const CompileCache& cache) { return removal_text(clear_cache(cache)); }

std::string cache_explain_text(const CompileCache& cache, const KernelSpec& spec,
                               const std::string& compiler) {
  const Loaded loaded = load(spec);
  std::string why_none;
  const std::filesystem::path path = choose_compiler(compiler, spec.frontend, why_none);
  if (path.empty()) fail_without_compiler(spec, why_none);
  const Fingerprint fingerprint = fingerprint_of(spec, loaded, path);
  const EntryKey key{loaded.source.function, fingerprint.id(), spec.arch_text(), spec.ptx_version};
  const auto found = cache.find(key, &fingerprint.fields());
  if (std::holds_alternative<Entry>(found)) return fmt::format("hit: {}\n", key.name());
  std::string text = fmt::format("miss: {}: {}\n", key.name(), std::get<Miss>(found).reason);

  const Manifest wanted{key.function,         key.id, key.arch, key.ptx_version,
                        fingerprint.fields(), {},     {},       0};
  std::optional<Manifest> nearest;
  std::vector<Difference> least;
  for (const Manifest& there : cache.manifests_of(key.function)) {
    std::vector<Difference> different = differences(wanted, there);
    if (!different.empty() && (!nearest || different.size() < least.size())) {
      nearest = there;
      least = std::move(different);
    }
  }
  if (!nearest) return text + "no other entry of this function is there\n";
  const EntryKey nearest_key{nearest->function, nearest->id, nearest->arch, nearest->ptx_version};
  text += fmt::format("nearest: {}\n", nearest_key.name());
  for (const Difference& difference : least) {
    text += fmt::format("  {}: now [{}], there [{}]\n", difference.field,
                        fmt::join(difference.wanted, ", "), fmt::join(difference.there, ", "));
  }
  return text;
}

}  // namespace teeny::tool
