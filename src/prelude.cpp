#include "prelude.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "error.h"
#include "file.h"

namespace teeny::tool {

namespace {

namespace fs = std::filesystem;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Declarations of modules that stand here in full, and uses of what is not part of a prelude.
bool is_left_out(std::string_view line) {
  return (starts_with(line, "pub mod") && !line.empty() && line.back() == ';') ||
         starts_with(line, "pub use bytes::") || starts_with(line, "pub use self::bytes::");
}

std::string filtered(const fs::path& file) {
  std::istringstream lines(read_file(file));
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    if (!is_left_out(line)) result += line + "\n";
  }
  return result;
}

class Assembly {
 public:
  explicit Assembly(fs::path dtype) : dtype_(std::move(dtype)) {}

  void add_directory(const fs::path& directory, std::size_t depth) {
    open_module(directory.filename().string(), depth);
    modules_ += filtered(directory / "mod.rs");
    std::vector<fs::path> entries;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
      entries.push_back(entry.path());
    }
    std::sort(entries.begin(), entries.end());
    for (const fs::path& entry : entries) {
      if (fs::is_directory(entry)) {
        if (entry.filename() != "dummy") add_directory(entry, depth + 1);
      } else if (entry.filename() == "core.rs") {
        core_ = filtered(entry);
        if (!core_.empty()) core_.pop_back();
      } else if (entry.extension() == ".rs" && entry.filename() != "mod.rs") {
        open_module(entry.stem().string(), depth + 1);
        modules_ += filtered(entry.filename() == "types.rs" ? dtype_ : entry);
        modules_ += "}\n";
      }
    }
    modules_ += "}\n";
  }

  [[nodiscard]] std::string text() const { return core_ + modules_ + "pub use triton::*;\n"; }

 private:
  void open_module(const std::string& name, std::size_t depth) {
    modules_ += "pub mod " + name + " {\npub use ";
    for (std::size_t i = 0; i < depth; ++i) modules_ += "super::";
    modules_ += "*;\n";
  }

  fs::path dtype_;
  std::string core_;
  std::string modules_;
};

fs::path first_existing(const std::vector<fs::path>& candidates) {
  for (const fs::path& candidate : candidates) {
    std::error_code failed;
    if (fs::exists(candidate, failed)) return candidate;
  }
  std::string seen;
  for (const fs::path& candidate : candidates) seen += "\n  " + candidate.string();
  throw Error(ErrorKind::usage, "prelude: none of these is there:" + seen);
}

}  // namespace

std::string read_prelude(const KernelSpec& spec) {
  std::string text;
  if (spec.prelude == k_no_prelude) return text;
  if (!spec.prelude.empty()) {
    text = read_file(spec.prelude);
  } else if (spec.frontend == Frontend::rust) {
    text = device_prelude();
  } else {
    throw Error(
        ErrorKind::usage,
        "a triton kernel needs --prelude <file>; `teeny-kernel prelude --from <teeny-triton "
        "checkout> -o <file>` makes one, and --frontend rust needs none");
  }
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string assemble_triton_prelude(const fs::path& from) {
  const fs::path root = fs::absolute(from);
  const fs::path triton = first_existing(
      {root / "src" / "triton", root / "kernels" / "teeny-triton" / "src" / "triton"});
  const fs::path crate = triton.parent_path().parent_path();
  const fs::path dtype = fs::path("src") / "dtype" / "mod.rs";
  Assembly assembly(
      first_existing({crate / ".." / ".." / "core" / "teeny-core" / dtype,
                      crate / ".." / "teeny-core" / dtype, crate / "teeny-core" / dtype}));
  assembly.add_directory(triton, 1);
  return assembly.text();
}

}  // namespace teeny::tool
