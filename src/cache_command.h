// What `teeny-kernel cache …` prints and does.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "compile_cache.h"
#include "inspect.h"
#include "kernel_spec.h"

namespace teeny::tool {

/// Sums of events and what is in the cache.
[[nodiscard]] std::string cache_stats_text(const CompileCache& cache, ReportFormat format);

/// Lists damaged entries. Throws Error(environment) at the end if there are any that were not
/// deleted.
[[nodiscard]] std::string cache_verify_text(const CompileCache& cache, bool repair);

/// Prunes by the given limits, those not given by the cache's own settings.
[[nodiscard]] std::string cache_prune_text(const CompileCache& cache,
                                           std::optional<std::uint64_t> max_bytes,
                                           std::optional<std::chrono::seconds> max_age);

[[nodiscard]] std::string cache_clear_text(const CompileCache& cache);

/// Whether a kernel is in the cache, and if not, how it differs from the nearest entry of its
/// function: a line for each field of the fingerprint that is another one there.
[[nodiscard]] std::string cache_explain_text(const CompileCache& cache, const KernelSpec& spec,
                                             const std::string& compiler);

}  // namespace teeny::tool
